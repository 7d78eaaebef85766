import { Button, Dialog, DialogTrigger, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { useDesk } from './hooks.ts';

/** What was answered was billed: it is not thrown away by one click. */
export function ConfirmNewList() {
  const desk = useDesk();
  return (
    <DialogTrigger>
      <Button className="button">New list</Button>
      <ModalOverlay className="overlay" isDismissable>
        <Modal className="modal">
          <Dialog className="dialog" role="alertdialog">
            <Heading slot="title" className="dialog__title">
              Clear this list?
            </Heading>
            <p>
              What is still asked ends, and the answers are gone from the page. Export them first to
              keep them.
            </p>
            <div className="dialog__actions">
              <Button className="button" slot="close">
                Keep it
              </Button>
              <Button className="button button--primary" onPress={() => desk.clear()}>
                Clear
              </Button>
            </div>
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}
