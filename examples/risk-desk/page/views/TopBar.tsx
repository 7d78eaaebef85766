import { useState, useSyncExternalStore, type RefObject } from 'react';
import {
  Button,
  FieldError,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Select,
  SelectValue,
  Text,
} from 'react-aria-components';
import type { Desk } from '../asking/desk.ts';
import type { Quota } from '../model/quotas.ts';
import { signOut, type Session } from '../session.ts';
import { ChevronIcon, ThemeIcon } from './icons.tsx';
import { numberName, timeName } from './names.ts';

interface TopBarProps {
  readonly session: Session;
  /** Both desks hear of the same quotas. */
  readonly quotaDesk: Desk;
  readonly purpose: string | null;
  readonly onPurpose: (id: string) => void;
  readonly isPurposeMissing: boolean;
  readonly purposeField: RefObject<HTMLButtonElement | null>;
}

export function TopBar(props: TopBarProps) {
  const { session, quotaDesk, purpose, onPurpose, isPurposeMissing, purposeField } = props;
  const { quotas } = useSyncExternalStore(quotaDesk.subscribe, quotaDesk.state);
  const leave = (): void => {
    void signOut(session).then((location) => window.location.assign(location));
  };
  return (
    <header className="topbar">
      <p className="topbar__brand">Risk desk</p>
      <Select
        className="field field--inline"
        placeholder="Choose a purpose"
        selectedKey={purpose}
        onSelectionChange={(key) => onPurpose(String(key))}
        isInvalid={isPurposeMissing}
      >
        <Label className="field__label">Purpose</Label>
        <Button ref={purposeField} className="select">
          <SelectValue className="select__value" />
          <ChevronIcon />
        </Button>
        <FieldError className="field__error">
          Choose a purpose first: it goes on record with every question.
        </FieldError>
        <Popover className="popover">
          <ListBox className="listbox" items={session.purposes}>
            {({ id, label }) => (
              <ListBoxItem id={id} className="listbox__item" textValue={label}>
                <Text slot="label">{label}</Text>
              </ListBoxItem>
            )}
          </ListBox>
        </Popover>
      </Select>
      <div className="topbar__quotas">
        {quotas.map((quota) => (
          <QuotaMeter key={quota.name} quota={quota} />
        ))}
      </div>
      <ThemeSwitch />
      <div className="topbar__person">
        <span className="topbar__name">{session.name}</span>
        <span className="topbar__role">{session.mayBatch ? 'Lead' : 'Analyst'}</span>
      </div>
      <Button className="button button--quiet" onPress={leave}>
        Sign out
      </Button>
    </header>
  );
}

function QuotaMeter({ quota: { name, left, limit, refillsAtMs } }: { readonly quota: Quota }) {
  const share = limit === null || limit === 0 ? null : left / limit;
  const level = share !== null && share < 0.1 ? 'low' : 'fine';
  return (
    <div className="quota" data-level={level}>
      <span className="quota__name">{quotaName(name)}</span>
      <span className="quota__left">
        <b>{numberName(left)}</b>
        {limit === null ? ' left' : ` of ${numberName(limit)} left`}
      </span>
      <span className="quota__refill">refills {timeName(refillsAtMs)}</span>
      {share === null ? null : (
        <svg
          className="quota__bar"
          viewBox="0 0 100 4"
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          <rect className="quota__track" width="100" height="4" rx="2" />
          <rect className="quota__fill" width={100 * share} height="4" rx="2" />
        </svg>
      )}
    </div>
  );
}

function quotaName(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** For this page alone: nothing is stored, and the next visit follows the system again. */
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
