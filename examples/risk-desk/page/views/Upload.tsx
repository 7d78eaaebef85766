import { useMemo, useState } from 'react';
import {
  Button,
  DropZone,
  FileTrigger,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Select,
  SelectValue,
  Text,
  TextArea,
  TextField,
} from 'react-aria-components';
import { costOf } from '../model/pages.ts';
import { saysOfBadNumber } from '../model/phoneNumber.ts';
import {
  likelyColumn,
  listNumbers,
  MAX_NUMBERS,
  readTable,
  refusalBySize,
  type ListedNumber,
  type Listing,
  type Table,
} from '../model/upload.ts';
import { useAsk } from './ask.ts';
import { useDeskState } from './hooks.ts';
import { ChevronIcon, UploadIcon } from './icons.tsx';
import { countName, numberName, timeName } from './names.ts';

/** Pasted or uploaded numbers, and what asking about them costs, before anything is asked. */
export function Upload({ onAsk }: { readonly onAsk: (numbers: readonly ListedNumber[]) => void }) {
  const [table, setTable] = useState<Table>();
  const [problem, setProblem] = useState<string>();

  const take = (text: string): void => {
    const reading = readTable(text);
    switch (reading.kind) {
      case 'table':
        setProblem(undefined);
        setTable(reading.table);
        break;
      case 'refused':
        setProblem(reading.why);
        break;
    }
  };

  return table === undefined ? (
    <ChooseNumbers onText={take} problem={problem} onProblem={setProblem} />
  ) : (
    <Preview table={table} onAsk={onAsk} onBack={() => setTable(undefined)} />
  );
}

/** In characters. So long a text is read as it is pasted: a field that shows it all is slow. */
const MIN_READ_AT_ONCE = 5000;

interface ChooseProps {
  readonly onText: (text: string) => void;
  readonly problem: string | undefined;
  readonly onProblem: (problem: string) => void;
}

function ChooseNumbers({ onText, problem, onProblem }: ChooseProps) {
  const [text, setText] = useState('');
  const read = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    const tooLarge = refusalBySize(file.size);
    if (tooLarge === undefined) onText(await file.text());
    else onProblem(tooLarge);
  };
  return (
    <section className="upload" aria-labelledby="upload-title">
      <h1 id="upload-title">Ask about a list</h1>
      <p className="upload__lead">
        Up to {numberName(MAX_NUMBERS)} numbers, as CSV or text. You see what is in it, and what it
        costs at most, before anything is asked. A list rings no phone.
      </p>
      {problem === undefined ? null : (
        <div className="banner banner--problem" role="alert">
          <div className="banner__text">
            <b>This cannot be read.</b> {problem}
          </div>
        </div>
      )}
      <div className="upload__ways">
        <DropZone
          className="dropzone"
          getDropOperation={() => 'copy'}
          onDrop={({ items }) => {
            const [item] = items;
            if (item?.kind === 'file') void item.getFile().then(read);
            if (item?.kind === 'text') void item.getText('text/plain').then(onText);
          }}
        >
          <UploadIcon />
          <Text slot="label">Drop a file here</Text>
          <FileTrigger
            acceptedFileTypes={['.csv', '.txt', '.tsv', 'text/csv', 'text/plain']}
            onSelect={(files) => void read(files?.[0])}
          >
            <Button className="button">Choose a file …</Button>
          </FileTrigger>
        </DropZone>
        <form
          className="upload__paste"
          autoComplete="off"
          onSubmit={(event) => {
            event.preventDefault();
            onText(text);
          }}
        >
          <TextField className="field" value={text} onChange={setText} autoComplete="off">
            <Label className="field__label">Or paste numbers</Label>
            <TextArea
              className="input input--area"
              rows={7}
              spellCheck="false"
              placeholder={'+44 7700 900 123\n+44 7700 900 124'}
              onPaste={(event) => {
                const pasted = event.clipboardData.getData('text/plain');
                if (pasted.length < MIN_READ_AT_ONCE) return;
                event.preventDefault();
                onText(pasted);
              }}
            />
          </TextField>
          <Button className="button button--primary" type="submit" isDisabled={text.trim() === ''}>
            Read them
          </Button>
        </form>
      </div>
    </section>
  );
}

interface PreviewProps {
  readonly table: Table;
  readonly onAsk: (numbers: readonly ListedNumber[]) => void;
  readonly onBack: () => void;
}

function Preview({ table, onAsk, onBack }: PreviewProps) {
  const ask = useAsk();
  const [column, setColumn] = useState(() => likelyColumn(table));
  const listing = useMemo(() => listNumbers(table, column), [table, column]);
  const count = listing.numbers.length;
  const isTooMany = count > MAX_NUMBERS;
  return (
    <section className="upload" aria-labelledby="preview-title">
      <h1 id="preview-title">Before anything is asked</h1>
      {table.columns.length < 2 ? null : (
        <Select
          className="field upload__column"
          selectedKey={column}
          onSelectionChange={(key) => setColumn(Number(key))}
        >
          <Label className="field__label">Column of the numbers</Label>
          <Button className="select">
            <SelectValue className="select__value" />
            <ChevronIcon />
          </Button>
          <Popover className="popover">
            <ListBox className="listbox">
              {table.columns.map((name, index) => (
                <ListBoxItem key={index} id={index} className="listbox__item" textValue={name}>
                  {name}
                </ListBoxItem>
              ))}
            </ListBox>
          </Popover>
        </Select>
      )}
      <Cost listing={listing} />
      {isTooMany ? (
        <div className="banner banner--problem" role="alert">
          <div className="banner__text">
            <b>{numberName(count)} numbers are too many.</b> Ask about {numberName(MAX_NUMBERS)} at
            most: split the file.
          </div>
        </div>
      ) : null}
      <Findings listing={listing} />
      <div className="upload__actions">
        <Button className="button" onPress={onBack}>
          Back
        </Button>
        <Button
          className="button button--primary button--large"
          isDisabled={count === 0 || isTooMany}
          onPress={() => {
            if (ask.mayAsk()) onAsk(listing.numbers);
          }}
        >
          Ask about {countName(count, 'number')}
        </Button>
      </div>
    </section>
  );
}

function Cost({ listing: { numbers, duplicates, bad } }: { readonly listing: Listing }) {
  const { quotas } = useDeskState();
  const cost = costOf(numbers.length);
  const short = quotas.find(
    ({ name, left }) =>
      (name === 'numbers' && left < cost.numbers) || (name === 'lookups' && left < cost.maxLookups),
  );
  return (
    <>
      <dl className="tiles">
        <div className="tile">
          <dt>Numbers to ask about</dt>
          <dd>{numberName(numbers.length)}</dd>
        </div>
        <div className="tile">
          <dt>Duplicates, asked once</dt>
          <dd>{numberName(duplicates.length)}</dd>
        </div>
        <div className="tile" data-outcome={bad.length > 0 ? 'unknown' : undefined}>
          <dt>Bad numbers, not asked</dt>
          <dd>{numberName(bad.length)}</dd>
        </div>
        <div className="tile">
          <dt>Lookups at most</dt>
          <dd>{numberName(cost.maxLookups)}</dd>
        </div>
      </dl>
      <p className="upload__cost">
        Most lines cost one lookup; one with a recent change costs up to four. Asked in{' '}
        {countName(cost.pages, 'page')}. Numbers that need their owner’s consent cost nothing here.
      </p>
      {short === undefined ? null : (
        <div className="banner banner--notice" role="status">
          <div className="banner__text">
            <b>Your quota may not be enough.</b> {numberName(short.left)} {short.name} are left
            until {timeName(short.refillsAtMs)}; the asking pauses where it ends.
          </div>
        </div>
      )}
    </>
  );
}

/** So many lines are listed; the others are counted. */
const SHOWN_LINES = 100;

function Findings({ listing: { duplicates, bad } }: { readonly listing: Listing }) {
  if (duplicates.length === 0 && bad.length === 0) return null;
  return (
    <div className="findings">
      {bad.length === 0 ? null : (
        <details className="findings__list" open>
          <summary>{countName(bad.length, 'bad number')}</summary>
          <ul>
            {bad.slice(0, SHOWN_LINES).map(({ line, why }, index) => (
              <li key={index}>
                <b>Line {line}</b> {saysOfBadNumber(why)}
              </li>
            ))}
            {bad.length > SHOWN_LINES ? (
              <li>… and {numberName(bad.length - SHOWN_LINES)} more.</li>
            ) : null}
          </ul>
        </details>
      )}
      {duplicates.length === 0 ? null : (
        <details className="findings__list">
          <summary>{countName(duplicates.length, 'duplicate')}</summary>
          <ul>
            {duplicates.slice(0, SHOWN_LINES).map(({ line, firstLine }, index) => (
              <li key={index}>
                <b>Line {line}</b> The same number as in line {firstLine}.
              </li>
            ))}
            {duplicates.length > SHOWN_LINES ? (
              <li>… and {numberName(duplicates.length - SHOWN_LINES)} more.</li>
            ) : null}
          </ul>
        </details>
      )}
    </div>
  );
}
