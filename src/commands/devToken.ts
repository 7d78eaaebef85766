import { parseArgs } from 'node:util';
import { MAX_DEVELOPMENT_MINUTES, signDevelopmentToken } from '../caller/developmentTokens.ts';
import { parsePhoneNumber } from '../domain/phoneNumber.ts';
import { systemClock } from '../system/clock.ts';
import { fail } from '../system/termination.ts';

const USAGE = `npm run dev-token -- [--scope SCOPES] [--subject NAME] [--client NAME] [--phone-number NUMBER]
                     [--purpose PURPOSE] [--minutes N]
  Prints an access token for a rehearsal: a service takes it that has DEV_TOKENS=true, which it refuses to start with
  unless every operator is the simulator.
  SCOPES   with spaces between: sim-swap:read may ask about any number
  NAME     the claims sub ("developer" if left out) and client_id
  NUMBER   the holder's own, as verified: + and the country code first
  PURPOSE  one of PURPOSES
  N        how long it counts, from 1 to ${MAX_DEVELOPMENT_MINUTES}; 480 if left out
`;

interface Values {
  readonly scope?: string | undefined;
  readonly subject?: string | undefined;
  readonly client?: string | undefined;
  readonly 'phone-number'?: string | undefined;
  readonly purpose?: string | undefined;
  readonly minutes?: string | undefined;
}

function readArguments(): Values {
  try {
    const text = { type: 'string' } as const;
    return parseArgs({
      options: {
        scope: text,
        subject: text,
        client: text,
        'phone-number': text,
        purpose: text,
        minutes: text,
      },
    }).values;
  } catch {
    return fail(USAGE);
  }
}

function minutesOf(text: string): number {
  const minutes = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (minutes >= 1 && minutes <= MAX_DEVELOPMENT_MINUTES) return minutes;
  return fail(`--minutes must be a whole number from 1 to ${MAX_DEVELOPMENT_MINUTES}.`);
}

function ownNumberOf(text: string): string {
  const number = parsePhoneNumber(text);
  switch (number.kind) {
    case 'parsed':
      return number.value;
    case 'refused':
      return fail(`--phone-number: ${number.reason}`);
  }
}

const {
  scope,
  subject = 'developer',
  client,
  purpose,
  minutes = '480',
  ...values
} = readArguments();
const own = values['phone-number'];
const token = await signDevelopmentToken(
  {
    subject: subject === '' ? fail('--subject must not be empty.') : subject,
    client,
    scope,
    phoneNumber: own === undefined ? undefined : ownNumberOf(own),
    purpose,
    minutes: minutesOf(minutes),
  },
  systemClock.nowMs(),
);
process.stdout.write(`${token}\n`);
