import { useMemo, useState } from 'react';
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
import { countFormulas, toCsv, type NumbersInExport } from '../model/csvExport.ts';
import type { DeskRow } from '../model/deskRow.ts';
import type { ListFile } from '../model/upload.ts';
import { DownloadIcon } from './icons.tsx';
import { countName, numberName } from './names.ts';

interface ExportProps {
  readonly file: ListFile;
  readonly rows: readonly DeskRow[];
  /** In the order of the table. */
  readonly shown: readonly DeskRow[];
}

/** The list that was given, with our columns behind its own; its numbers are masked unless a person chooses otherwise. */
export function ExportDialog(props: ExportProps) {
  return (
    <DialogTrigger>
      <Button className="button">
        <DownloadIcon /> Export
      </Button>
      <ModalOverlay className="overlay" isDismissable>
        <Modal className="modal">
          <Dialog className="dialog">
            {({ close }) => <Choices {...props} onClose={close} />}
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}

function Choices({ file, rows, shown, onClose }: ExportProps & { readonly onClose: () => void }) {
  const [numbers, setNumbers] = useState<NumbersInExport>('masked');
  const [isWhole, setIsWhole] = useState(true);
  const formulas = useMemo(() => countFormulas(file), [file]);
  const isEqual = shown.length === rows.length;
  return (
    <>
      <Heading slot="title" className="dialog__title">
        Export as CSV
      </Heading>
      <RadioGroup
        className="choices"
        value={isWhole ? 'whole' : 'shown'}
        onChange={(value) => setIsWhole(value === 'whole')}
      >
        <Label className="field__label">Rows in the file</Label>
        <Choice
          value="whole"
          name={`Your whole list: ${countName(file.rows.length, 'row')}`}
          hint="Every row in its order, duplicates and skipped ones too: your columns first, then the results."
        />
        <Choice
          value="shown"
          name={`Only what is shown: ${countName(shown.length, 'number')}`}
          hint={isEqual ? 'In the order of the table.' : 'As filtered, in the order of the table.'}
        />
      </RadioGroup>
      <RadioGroup
        className="choices"
        value={numbers}
        onChange={(value) => setNumbers(value === 'full' ? 'full' : 'masked')}
      >
        <Label className="field__label">Numbers in the file</Label>
        <Choice
          value="masked"
          name="Masked"
          hint={`Only the column “${file.table.columns[file.column] ?? ''}”. The line number leads back to your file.`}
        />
        <Choice value="full" name="In full" hint="The file contains the full numbers." />
      </RadioGroup>
      {formulas === 0 ? null : (
        <p className="dialog__note" role="note">
          {formulas === 1
            ? '1 of your cells would run as a formula in a spreadsheet. It becomes text.'
            : `${numberName(formulas)} of your cells would run as formulas in a spreadsheet. They become text.`}
        </p>
      )}
      <div className="dialog__actions">
        <Button className="button" slot="close">
          Cancel
        </Button>
        <Button
          className="button button--primary"
          onPress={() => {
            download(
              toCsv(file, rows, numbers, isWhole ? undefined : shown),
              file.table.format.hasMark,
            );
            onClose();
          }}
        >
          Download
        </Button>
      </div>
    </>
  );
}

interface ChoiceProps {
  readonly value: string;
  readonly name: string;
  readonly hint: string;
}

function Choice({ value, name, hint }: ChoiceProps) {
  return (
    <Radio value={value} className="choice">
      <span className="choice__dot" />
      <span>
        <b>{name}</b>
        <span className="choice__hint">{hint}</span>
      </span>
    </Radio>
  );
}

const BYTE_ORDER_MARK = '\ufeff';

function download(csv: string, hasMark: boolean): void {
  const parts = hasMark ? [BYTE_ORDER_MARK, csv] : [csv];
  const blob = new Blob(parts, { type: 'text/csv;charset=utf-8' });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = `sim-changes-${new Date().toISOString().slice(0, 10)}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}
