import type { ReactNode } from 'react';
import type { Outcome } from '../model/verdict.ts';

function Icon({ children }: { readonly children: ReactNode }) {
  return (
    <svg
      className="icon"
      viewBox="0 0 20 20"
      width="20"
      height="20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.75"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {children}
    </svg>
  );
}

/** How loudly an outcome speaks: red is a change, amber is not to be trusted yet, all else is quiet. */
export type Tone = 'danger' | 'warning' | 'quiet';

export function toneOf(outcome: Outcome): Tone {
  switch (outcome) {
    case 'within24h':
    case 'within72h':
    case 'within7d':
    case 'within30d':
      return 'danger';
    case 'activated':
    case 'unknown':
    case 'consent':
      return 'warning';
    case 'open':
    case 'clear':
      return 'quiet';
  }
}

/** A shape of its own for each outcome: colour is never the only difference. */
export function OutcomeIcon({ outcome }: { readonly outcome: Outcome }) {
  switch (outcome) {
    case 'within24h':
    case 'within72h':
    case 'within7d':
    case 'within30d':
      return (
        <Icon>
          <path d="M10 3 17.5 16.500H2.500Z" fill="currentColor" fillOpacity=".16" />
          <path d="M10 8v4M10 14.300v.1" />
        </Icon>
      );
    case 'activated':
      return (
        <Icon>
          <path d="M5.500 2.500h6L15 6v11.500H5.500Z" />
          <path d="M10.200 9v5M7.700 11.500h5" />
        </Icon>
      );
    case 'unknown':
      return (
        <Icon>
          <circle cx="10" cy="10" r="7.300" strokeDasharray="3 2.4" />
          <path d="M7.900 8.200a2.100 2.100 0 1 1 3.200 1.900c-.700.400-1.100.8-1.100 1.600M10 14v.1" />
        </Icon>
      );
    case 'consent':
      return (
        <Icon>
          <rect x="6" y="2.500" width="8" height="15" rx="2" />
          <path d="M9.200 14.800h1.600M2.800 7.500v5M17.200 7.500v5" />
        </Icon>
      );
    case 'open':
      return (
        <Icon>
          <circle cx="10" cy="10" r="7.300" strokeDasharray="0.1 3.7" />
        </Icon>
      );
    case 'clear':
      return (
        <Icon>
          <path d="m5 10.500 3.400 3.400L15.200 6.500" />
        </Icon>
      );
  }
}

export function BrandMark() {
  return (
    <svg className="brand__mark" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <path
        fill="currentColor"
        d="M5 1h7.200L17 5.800V17a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V3a2 2 0 0 1 2-2Z"
      />
      <path className="brand__chip" d="M6.500 9h7v6.500h-7zM6.500 12.200h7M10 9v6.500" />
    </svg>
  );
}

export function CopyIcon({ isDone }: { readonly isDone: boolean }) {
  return (
    <Icon>
      {isDone ? (
        <path d="m5 10.500 3.400 3.400L15.200 6.500" />
      ) : (
        <path d="M7.500 7.500h8v8h-8ZM12.500 7.500v-3h-8v8h3" />
      )}
    </Icon>
  );
}

export function CloseIcon() {
  return (
    <Icon>
      <path d="m5 5 10 10M15 5 5 15" />
    </Icon>
  );
}

export function UploadIcon() {
  return (
    <Icon>
      <path d="M10 13V3.500M6.300 7 10 3.300 13.700 7M3.500 12.500v3a1.500 1.500 0 0 0 1.500 1.500h10a1.500 1.500 0 0 0 1.500-1.500v-3" />
    </Icon>
  );
}

export function DownloadIcon() {
  return (
    <Icon>
      <path d="M10 3.500V13M6.300 9.500 10 13.200l3.700-3.700M3.500 13v2.500A1.500 1.500 0 0 0 5 17h10a1.500 1.500 0 0 0 1.500-1.500V13" />
    </Icon>
  );
}

export function PrintIcon() {
  return (
    <Icon>
      <path d="M6 7V3h8v4M6 14H4.500A1.500 1.500 0 0 1 3 12.500v-4A1.500 1.500 0 0 1 4.500 7h11A1.500 1.500 0 0 1 17 8.500v4a1.500 1.500 0 0 1-1.500 1.500H14" />
      <path d="M6 12h8v5H6Z" />
    </Icon>
  );
}

export function ChevronIcon() {
  return (
    <Icon>
      <path d="m6 8 4 4 4-4" />
    </Icon>
  );
}

export function SortIcon({ direction }: { readonly direction: 'ascending' | 'descending' | null }) {
  return (
    <Icon>
      <path d="m6.500 8 3.500-3.500L13.500 8" opacity={direction === 'descending' ? 0.25 : 1} />
      <path d="m6.500 12 3.500 3.500 3.500-3.500" opacity={direction === 'ascending' ? 0.25 : 1} />
    </Icon>
  );
}

export function ThemeIcon() {
  return (
    <Icon>
      <circle cx="10" cy="10" r="7" />
      <path d="M10 3a7 7 0 0 1 0 14Z" fill="currentColor" />
    </Icon>
  );
}

export function RetryIcon() {
  return (
    <Icon>
      <path d="M16.500 10A6.500 6.500 0 1 1 14.300 5.100M14.800 2v3.600h-3.600" />
    </Icon>
  );
}

export function PlayIcon() {
  return (
    <Icon>
      <path d="M6.500 4.500v11l9-5.500Z" />
    </Icon>
  );
}
