import { Button, Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { CaseView } from './CaseView.tsx';
import { useRow } from './hooks.ts';
import { CloseIcon } from './icons.tsx';

interface CaseDialogProps {
  readonly id: number | null;
  readonly onClose: () => void;
}

/** A row, opened beside the table: here its number is written out. */
export function CaseDialog({ id, onClose }: CaseDialogProps) {
  const row = useRow(id ?? 0);
  return (
    <ModalOverlay
      className="overlay overlay--side"
      isOpen={id !== null && row !== undefined}
      isDismissable
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
    >
      <Modal className="side">
        <Dialog className="dialog">
          <div className="dialog__bar">
            <Heading slot="title" className="dialog__title">
              {row === undefined ? '' : `Case · line ${row.line}`}
            </Heading>
            <Button slot="close" className="button button--icon" aria-label="Close">
              <CloseIcon />
            </Button>
          </div>
          {row === undefined ? null : <CaseView row={row} />}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
