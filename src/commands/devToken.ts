import { argumentsOf, integerOf, numberOf } from './arguments.ts';
import { MAX_DEVELOPMENT_MINUTES, signDevelopmentToken } from '../caller/developmentTokens.ts';
import { systemClock } from '../system/clock.ts';
import { fail } from '../system/termination.ts';

const USAGE = `npm run dev-token -- [--scope SCOPES] [--subject NAME] [--client NAME] [--phone-number NUMBER]
                     [--purpose PURPOSE] [--minutes N]
  Prints an access token for a rehearsal. A service with DEV_TOKENS=true accepts it; it starts only while every
  operator is the simulator.
  SCOPES   with spaces between: sim-swap:read may query any number
  NAME     the claims sub ("developer" if left out) and client_id
  NUMBER   the holder's own, as verified: + and the country code first
  PURPOSE  one of PURPOSES
  N        for how long it is valid, from 1 to ${MAX_DEVELOPMENT_MINUTES}; 480 if left out
`;

const { values } = argumentsOf(
  { texts: ['scope', 'subject', 'client', 'phone-number', 'purpose', 'minutes'] },
  USAGE,
);
const {
  scope,
  subject = 'developer',
  client,
  'phone-number': own,
  purpose,
  minutes = '480',
} = values;
const token = await signDevelopmentToken(
  {
    subject: subject === '' ? fail('--subject must not be empty.') : subject,
    client,
    scope,
    phoneNumber: own === undefined ? undefined : numberOf(own, '--phone-number: '),
    purpose,
    minutes: integerOf('--minutes', minutes, 1, MAX_DEVELOPMENT_MINUTES),
  },
  systemClock.nowMs(),
);
process.stdout.write(`${token}\n`);
