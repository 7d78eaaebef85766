import { useMemo, useState } from 'react';
import {
  Button,
  ComboBox,
  DropZone,
  FileTrigger,
  Input,
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
import sampleUrl from '../../sample.csv?url';
import { decodeText, type DecodedText } from '../model/decodeText.ts';
import { costOf } from '../model/pages.ts';
import { COUNTRIES, grouped, saysOfBadNumber, type Completion } from '../model/phoneNumber.ts';
import {
  likelyColumn,
  listNumbers,
  MAX_NUMBERS,
  PART_SIZE,
  readTable,
  refusalBySize,
  type ListedNumber,
  type ListFile,
  type Listing,
  type Table,
} from '../model/upload.ts';
import type { Session } from '../session.ts';
import { useAsk } from './ask.ts';
import { useDeskState } from './hooks.ts';
import { ChevronIcon, UploadIcon } from './icons.tsx';
import { countName, numberName, priceName, timeName } from './names.ts';

type OnCheck = (numbers: readonly ListedNumber[], file: ListFile) => void;

/** Pasted or uploaded numbers, and what checking them costs, before anything is billed. */
export function Upload({ onCheck }: { readonly onCheck: OnCheck }) {
  const [table, setTable] = useState<Table>();
  const [problem, setProblem] = useState<string>();

  const take = ({ text, hasMark }: DecodedText): void => {
    const reading = readTable(text, hasMark);
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
    <Review table={table} onCheck={onCheck} onBack={() => setTable(undefined)} />
  );
}

/** In characters. So long a text is read as it is pasted: a field that shows it all is slow. */
const MIN_READ_AT_ONCE = 5000;

/** With a mark, as there is no file whose encoding its export could have. */
function pasted(text: string): DecodedText {
  return { text, hasMark: true };
}

interface ChooseProps {
  readonly onText: (text: DecodedText) => void;
  readonly problem: string | undefined;
  readonly onProblem: (problem: string) => void;
}

function ChooseNumbers({ onText, problem, onProblem }: ChooseProps) {
  const [text, setText] = useState('');
  const read = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    const tooLarge = refusalBySize(file.size);
    if (tooLarge === undefined) onText(decodeText(new Uint8Array(await file.arrayBuffer())));
    else onProblem(tooLarge);
  };
  const trySample = async (): Promise<void> => {
    const reply = await fetch(sampleUrl);
    onText(decodeText(new Uint8Array(await reply.arrayBuffer())));
  };
  return (
    <section className="upload" aria-labelledby="upload-title">
      <h1 id="upload-title">Check a list</h1>
      <p className="upload__lead">
        Drop a file with phone numbers. You see what is in it and what it costs before anything is
        checked. Bulk checks never prompt customers.
      </p>
      {problem === undefined ? null : (
        <div className="banner" role="alert">
          <p className="banner__text">
            <b>This file cannot be used.</b> {problem}
          </p>
        </div>
      )}
      <DropZone
        className="dropzone"
        getDropOperation={() => 'copy'}
        onDrop={({ items }) => {
          const [item] = items;
          if (item?.kind === 'file') void item.getFile().then(read);
          if (item?.kind === 'text')
            void item.getText('text/plain').then((dropped) => onText(pasted(dropped)));
        }}
      >
        <UploadIcon />
        <Text slot="label">Drop a CSV or text file, up to {numberName(MAX_NUMBERS)} numbers</Text>
        <div className="dropzone__ways">
          <FileTrigger
            acceptedFileTypes={['.csv', '.txt', '.tsv', 'text/csv', 'text/plain']}
            onSelect={(files) => void read(files?.[0])}
          >
            <Button className="button button--primary">Choose a file …</Button>
          </FileTrigger>
          <Button className="button" onPress={() => void trySample()}>
            Try the sample
          </Button>
        </div>
      </DropZone>
      <form
        className="upload__paste"
        autoComplete="off"
        onSubmit={(event) => {
          event.preventDefault();
          onText(pasted(text));
        }}
      >
        <TextField className="field" value={text} onChange={setText} autoComplete="off">
          <Label className="field__label">Or paste numbers</Label>
          <TextArea
            className="input input--area"
            rows={4}
            spellCheck="false"
            placeholder={'+44 7700 900123\n+44 7700 900124'}
            onPaste={(event) => {
              const whole = event.clipboardData.getData('text/plain');
              if (whole.length < MIN_READ_AT_ONCE) return;
              event.preventDefault();
              onText(pasted(whole));
            }}
          />
        </TextField>
        <Button className="button" type="submit" isDisabled={text.trim() === ''}>
          Review numbers
        </Button>
      </form>
    </section>
  );
}

interface ReviewProps {
  readonly table: Table;
  readonly onCheck: OnCheck;
  readonly onBack: () => void;
}

function Review({ table, onCheck, onBack }: ReviewProps) {
  const ask = useAsk();
  const { session } = ask;
  const [column, setColumn] = useState(() => likelyColumn(table) ?? 0);
  const [completion, setCompletion] = useState<Completion | null>(null);
  const listing = useMemo(
    () => listNumbers(table, column, completion),
    [table, column, completion],
  );
  const count = listing.numbers.length;
  const isTooMany = count > MAX_NUMBERS;
  return (
    <section className="upload" aria-labelledby="review-title">
      <h1 id="review-title">Review before checking</h1>
      <div className="upload__choices">
        {table.columns.length < 2 ? null : (
          <ColumnSelect columns={table.columns} column={column} onColumn={setColumn} />
        )}
        {listing.withoutCode === 0 ? null : (
          <CompletionSelect
            count={listing.withoutCode}
            completion={completion}
            onCompletion={setCompletion}
          />
        )}
      </div>
      <Cost listing={listing} />
      {isTooMany ? (
        <div className="banner" role="alert">
          <p className="banner__text">
            <b>{numberName(count)} numbers are too many.</b> Split the file: up to{' '}
            {numberName(MAX_NUMBERS)} can be checked.
          </p>
        </div>
      ) : null}
      <Findings listing={listing} />
      <div className="upload__actions upload__actions--sticky">
        <Button className="button button--large" onPress={onBack}>
          Back
        </Button>
        <p className="upload__most">{mostName(count, session.lookupPrice)}</p>
        <Button
          className="button button--primary button--large"
          isDisabled={count === 0 || isTooMany}
          onPress={() =>
            ask.withPurpose(() => onCheck(listing.numbers, { table, column, rows: listing.rows }))
          }
        >
          {count > PART_SIZE
            ? `Check the first ${numberName(PART_SIZE)}`
            : `Check ${countName(count, 'number')}`}
        </Button>
      </div>
    </section>
  );
}

/** What is at most billed, where the button is. */
function mostName(numbers: number, price: Session['lookupPrice']): string {
  const { maxLookups } = costOf(numbers);
  const most = priceName(maxLookups, price);
  return `At most ${countName(maxLookups, 'lookup')}${most === null ? '' : `, ${most}`}`;
}

interface ColumnProps {
  readonly columns: readonly string[];
  readonly column: number;
  readonly onColumn: (column: number) => void;
}

function ColumnSelect({ columns, column, onColumn }: ColumnProps) {
  return (
    <Select
      className="field"
      selectedKey={column}
      onSelectionChange={(key) => onColumn(Number(key))}
    >
      <Label className="field__label">Column with the numbers</Label>
      <Button className="select">
        <SelectValue className="select__value" />
        <ChevronIcon />
      </Button>
      <Popover className="popover">
        <ListBox className="listbox">
          {columns.map((name, index) => (
            <ListBoxItem key={index} id={index} className="listbox__item">
              {name}
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </Select>
  );
}

interface CompletionProps {
  readonly count: number;
  readonly completion: Completion | null;
  readonly onCompletion: (completion: Completion | null) => void;
}

const COMPLETIONS: readonly { readonly id: Completion; readonly name: string }[] = [
  { id: 'codeIncluded', name: 'They include the country code' },
  ...COUNTRIES,
];

/** Nothing is chosen for a person: a national number of the wrong country is a stranger's. */
export function CompletionSelect({ count, completion, onCompletion }: CompletionProps) {
  return (
    <ComboBox
      className="field"
      selectedKey={completion}
      onSelectionChange={(key) =>
        onCompletion(COMPLETIONS.find(({ id }) => id === key)?.id ?? null)
      }
      menuTrigger="focus"
    >
      <Label className="field__label">
        {count === 1 ? 'Country of the number' : `Country of ${numberName(count)} numbers`} without
        +
      </Label>
      <div className="select select--input">
        <Input className="select__input" placeholder="Choose a country" />
        <Button className="select__open" aria-label="Countries">
          <ChevronIcon />
        </Button>
      </div>
      <Popover className="popover">
        <ListBox className="listbox" items={COMPLETIONS}>
          {({ id, name }) => (
            <ListBoxItem id={id} className="listbox__item">
              {name}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}

function Cost({ listing: { numbers, duplicates, bad } }: { readonly listing: Listing }) {
  const { quotas } = useDeskState();
  const { session } = useAsk();
  const cost = costOf(numbers.length);
  const price = priceName(cost.maxLookups, session.lookupPrice);
  const parts = Math.ceil(numbers.length / PART_SIZE);
  const short = quotas.find(
    ({ name, left }) =>
      (name === 'numbers' && left < cost.numbers) || (name === 'lookups' && left < cost.maxLookups),
  );
  return (
    <>
      <dl className="totals">
        <Total name="Numbers to check" value={numberName(numbers.length)} />
        <Total name="Duplicates, checked once" value={numberName(duplicates.length)} />
        <Total
          name="Not usable, skipped"
          value={numberName(bad.length)}
          isWarning={bad.length > 0}
        />
        <Total
          name={price === null ? 'Lookups at most' : `Lookups at most, ${price}`}
          value={numberName(cost.maxLookups)}
        />
      </dl>
      <p className="upload__note">
        Most numbers take one lookup; a recent change takes up to four. Numbers that need their
        owner’s consent are not looked up.
        {parts > 1
          ? ` Checked in ${parts} parts of up to ${numberName(PART_SIZE)}: you start each.`
          : ''}
      </p>
      {short === undefined ? null : (
        <div className="banner" role="status">
          <p className="banner__text">
            <b>Your quota may not be enough.</b> {numberName(short.left)} {short.name} are left
            until {timeName(short.refillsAtMs)}. Checking pauses when they are used up.
          </p>
        </div>
      )}
    </>
  );
}

interface TotalProps {
  readonly name: string;
  readonly value: string;
  readonly isWarning?: boolean;
}

function Total({ name, value, isWarning = false }: TotalProps) {
  return (
    <div className="total" data-tone={isWarning ? 'warning' : undefined}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** So many lines are listed; the others are counted. */
const SHOWN_LINES = 100;

function Findings({ listing: { completed, duplicates, bad } }: { readonly listing: Listing }) {
  return (
    <div className="findings">
      <Finding
        name={countName(completed.length, 'number is completed', 'numbers are completed')}
        lines={completed.map(({ line, text, e164s }) => ({
          line,
          text,
          says: e164s.map(grouped).join(' and '),
        }))}
      />
      <Finding
        name={countName(bad.length, 'row is skipped', 'rows are skipped')}
        lines={bad.map(({ line, text, why }) => ({ line, text, says: saysOfBadNumber(why, text) }))}
      />
      <Finding
        name={countName(duplicates.length, 'duplicate')}
        lines={duplicates.map(({ line, text, firstLine }) => ({
          line,
          text,
          says: `Same number as in line ${firstLine}.`,
        }))}
      />
    </div>
  );
}

interface FindingProps {
  readonly name: string;
  readonly lines: readonly {
    readonly line: number;
    readonly text: string;
    readonly says: string;
  }[];
}

function Finding({ name, lines }: FindingProps) {
  if (lines.length === 0) return null;
  return (
    <details className="finding card">
      <summary>{name}</summary>
      {/* So that keys can scroll it. */}
      <ul tabIndex={0} aria-label={name}>
        {lines.slice(0, SHOWN_LINES).map(({ line, text, says }, index) => (
          <li key={index}>
            <span>Line {line}</span> <code>{text === '' ? '(empty)' : text.slice(0, 40)}</code>{' '}
            <span>{says}</span>
          </li>
        ))}
        {lines.length > SHOWN_LINES ? (
          <li>… and {numberName(lines.length - SHOWN_LINES)} more.</li>
        ) : null}
      </ul>
    </details>
  );
}
