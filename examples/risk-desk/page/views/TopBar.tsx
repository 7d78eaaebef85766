import { useState, useSyncExternalStore } from 'react';
import {
  Button,
  FieldError,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Select,
  SelectValue,
} from 'react-aria-components';
import type { Desk } from '../asking/desk.ts';
import type { Quota } from '../model/quotas.ts';
import { signOut } from '../session.ts';
import { useAsk } from './ask.ts';
import { ConfirmButton } from './ConfirmButton.tsx';
import { goTo, useHere, type Place } from './here.ts';
import { BrandMark, ChevronIcon, ThemeIcon } from './icons.tsx';
import { numberName, timeName } from './names.ts';

interface TopBarProps {
  /** Both desks share the same quotas. */
  readonly listDesk: Desk;
  readonly purposeId: string | null;
  readonly onPurpose: (id: string) => void;
  /** A check waits for the choice of one. */
  readonly isPurposeMissing: boolean;
  readonly onPurposeLeft: () => void;
  readonly onSignOut: () => void;
}

export function TopBar({ listDesk, onSignOut, ...purpose }: TopBarProps) {
  const { session } = useAsk();
  const { quotas } = useSyncExternalStore(listDesk.subscribe, listDesk.state);
  return (
    <header className="topbar">
      <p className="brand">
        <BrandMark /> Risk desk
      </p>
      {session.mayBatch ? <Places /> : null}
      <div className="topbar__quotas">
        {quotas.map((quota) => (
          <QuotaMeter key={quota.name} quota={quota} />
        ))}
      </div>
      <PurposeSelect {...purpose} />
      <ThemeSwitch />
      <div className="topbar__person">
        <span className="topbar__name">{session.name}</span>
        <span className="topbar__role">{session.mayBatch ? 'Lead' : 'Analyst'}</span>
      </div>
      <ConfirmButton
        className="button button--quiet"
        mustConfirm={() => listDesk.state().rows.length > 0}
        title="Sign out?"
        says="The list and its results are not kept. Export them first if you need them."
        action="Sign out"
        onConfirm={() => {
          onSignOut();
          void signOut(session).then((location) => window.location.assign(location));
        }}
      >
        Sign out
      </ConfirmButton>
    </header>
  );
}

const PLACES: readonly (readonly [Place, string])[] = [
  ['list', 'List'],
  ['single', 'Single number'],
];

/** Both places stay as they are while the other one is looked at. */
function Places() {
  const { place } = useHere();
  return (
    <nav className="places">
      {PLACES.map(([id, name]) => (
        <Button
          key={id}
          className="places__place"
          {...(id === place ? { 'aria-current': 'page' } : {})}
          onPress={() => goTo({ place: id, caseId: null })}
        >
          {name}
        </Button>
      ))}
    </nav>
  );
}

type PurposeProps = Omit<TopBarProps, 'listDesk' | 'onSignOut'>;

function PurposeSelect({ purposeId, onPurpose, isPurposeMissing, onPurposeLeft }: PurposeProps) {
  const { session } = useAsk();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Select
      className="field field--inline"
      placeholder="Choose a purpose"
      selectedKey={purposeId}
      onSelectionChange={(key) => onPurpose(String(key))}
      isInvalid={isPurposeMissing}
      isOpen={isOpen || isPurposeMissing}
      onOpenChange={(next) => {
        setIsOpen(next);
        if (!next) onPurposeLeft();
      }}
    >
      <Label className="field__label">Purpose</Label>
      <Button className="select">
        <SelectValue className="select__value" />
        <ChevronIcon />
      </Button>
      <Popover className="popover">
        {isPurposeMissing ? (
          <p className="popover__says">Choose a purpose. It is logged with every check.</p>
        ) : null}
        <ListBox className="listbox" items={session.purposes}>
          {({ id, label }) => (
            <ListBoxItem id={id} className="listbox__item">
              {label}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
      <FieldError className="visually-hidden">
        Choose a purpose. It is logged with every check.
      </FieldError>
    </Select>
  );
}

const LOW_SHARE = 0.1;

function QuotaMeter({ quota: { name, left, limit, refillsAtMs } }: { readonly quota: Quota }) {
  const share = limit === null || limit === 0 ? null : left / limit;
  const isLow = share !== null && share < LOW_SHARE;
  return (
    <p className="quota" data-low={isLow || undefined}>
      <span className="quota__name">{quotaName(name)}</span>
      <span className="quota__left">
        <b>{numberName(left)}</b>
        {limit === null ? null : <span className="quota__limit"> of {numberName(limit)}</span>} left
      </span>
      {isLow ? <span className="quota__refill">refills {timeName(refillsAtMs)}</span> : null}
    </p>
  );
}

function quotaName(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** For this page only: nothing is stored, and the next visit follows the system again. */
function ThemeSwitch() {
  const [theme, setTheme] = useState<'light' | 'dark' | null>(null);
  const toggle = (): void => {
    const isDark = window.matchMedia('(prefers-color-scheme: dark)').matches;
    const now = theme ?? (isDark ? 'dark' : 'light');
    const next = now === 'dark' ? 'light' : 'dark';
    document.documentElement.dataset['theme'] = next;
    setTheme(next);
  };
  return (
    <Button
      className="button button--icon"
      aria-label="Switch between light and dark"
      onPress={toggle}
    >
      <ThemeIcon />
    </Button>
  );
}
