import { useState } from 'react';
import {
  Button,
  Dialog,
  DialogTrigger,
  Heading,
  Label,
  Modal,
  ModalOverlay,
  Radio,
  RadioGroup,
} from 'react-aria-components';
import { toCsv, type NumbersInExport } from '../model/csvExport.ts';
import type { DeskRow } from '../model/deskRow.ts';
import { DownloadIcon } from './icons.tsx';
import { countName } from './names.ts';

/** The rows that are shown, as a file; the numbers in it are masked unless a person chooses otherwise. */
export function ExportDialog({ rows }: { readonly rows: readonly DeskRow[] }) {
  const [numbers, setNumbers] = useState<NumbersInExport>('masked');
  return (
    <DialogTrigger>
      <Button className="button">
        <DownloadIcon /> Export
      </Button>
      <ModalOverlay className="overlay" isDismissable>
        <Modal className="modal">
          <Dialog className="dialog">
            {({ close }) => (
              <>
                <Heading slot="title" className="dialog__title">
                  Export {countName(rows.length, 'number')} as CSV
                </Heading>
                <RadioGroup
                  className="choices"
                  value={numbers}
                  onChange={(value) => setNumbers(value === 'full' ? 'full' : 'masked')}
                >
                  <Label className="field__label">Numbers in the file</Label>
                  <Radio value="masked" className="choice">
                    <span className="choice__dot" />
                    <span>
                      <b>Masked</b>
                      <span className="choice__hint">
                        The line number says which row of your file it is.
                      </span>
                    </span>
                  </Radio>
                  <Radio value="full" className="choice">
                    <span className="choice__dot" />
                    <span>
                      <b>In full</b>
                      <span className="choice__hint">The file contains the full numbers.</span>
                    </span>
                  </Radio>
                </RadioGroup>
                <div className="dialog__actions">
                  <Button className="button" slot="close">
                    Cancel
                  </Button>
                  <Button
                    className="button button--primary"
                    onPress={() => {
                      download(toCsv(rows, numbers));
                      close();
                    }}
                  >
                    Download
                  </Button>
                </div>
              </>
            )}
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}

/** The byte order mark says UTF-8 to spreadsheets. */
const BYTE_ORDER_MARK = '\ufeff';

function download(csv: string): void {
  const blob = new Blob([BYTE_ORDER_MARK, csv], { type: 'text/csv;charset=utf-8' });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = `sim-changes-${new Date().toISOString().slice(0, 10)}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}
