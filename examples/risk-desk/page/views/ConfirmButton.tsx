import { useState, type ReactNode } from 'react';
import { Button, Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';

interface ConfirmButtonProps {
  readonly className?: string;
  readonly children: ReactNode;
  /** Whether something would be lost; where not, it is done at once. */
  readonly mustConfirm: () => boolean;
  readonly title: string;
  readonly says: string;
  readonly action: string;
  readonly onConfirm: () => void;
}

/** What was answered was billed: one click does not throw it away. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { className = 'button', children, mustConfirm, title, says, action, onConfirm } = props;
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button
        className={className}
        onPress={() => {
          if (mustConfirm()) setIsOpen(true);
          else onConfirm();
        }}
      >
        {children}
      </Button>
      <ModalOverlay className="overlay" isDismissable isOpen={isOpen} onOpenChange={setIsOpen}>
        <Modal className="modal">
          <Dialog className="dialog" role="alertdialog">
            <Heading slot="title" className="dialog__title">
              {title}
            </Heading>
            <p>{says}</p>
            <div className="dialog__actions">
              <Button className="button" slot="close">
                Keep the list
              </Button>
              <Button
                className="button button--danger"
                onPress={() => {
                  setIsOpen(false);
                  onConfirm();
                }}
              >
                {action}
              </Button>
            </div>
          </Dialog>
        </Modal>
      </ModalOverlay>
    </>
  );
}
