import type { OperatorSettings } from '../src/operator/operatorSettings.ts';
import type { ClientReply, ClientStanding } from './clientReply.ts';
import type { Finding, Verdict } from './finding.ts';

/** The request by which the check learns how the operator regards our client. */
export type ClientTrial = 'token' | 'poll';

/** The settings that advice depends on. */
export type ClientSettings = Pick<OperatorSettings, 'clientAuthentication' | 'grant'>;

/** Judges our credentials by a reply. Pure. */
export function judgeCredentials(
  trial: ClientTrial,
  endpoint: string,
  reply: ClientReply,
  settings: ClientSettings,
): Finding {
  const { verdict, advice } = verdictOn(trial, reply.standing, settings);
  const row = {
    step: 'credentials',
    at: endpoint,
    verdict,
    found: foundText(trial, reply),
  } as const;
  return advice === undefined ? row : { ...row, advice };
}

function foundText(trial: ClientTrial, { standing, statement }: ClientReply): string {
  const isExpected = trial === 'poll' && standing === 'grant refused';
  return isExpected ? `known; ${statement}, as a made-up auth_req_id should be` : statement;
}

interface Opinion {
  readonly verdict: Verdict;
  readonly advice?: string;
}

function verdictOn(
  trial: ClientTrial,
  standing: ClientStanding,
  settings: ClientSettings,
): Opinion {
  switch (standing) {
    case 'token issued':
      return trial === 'token'
        ? OK
        : failed(
            'The operator issued a token for a request that was never made. Report it to the operator.',
          );
    case 'number refused':
    case 'scope refused':
      return OK;
    case 'grant refused':
      return trial === 'poll' ? OK : failed(adviceOnProof(settings));
    case 'client unknown':
      return failed(adviceOnProof(settings));
    case 'client not allowed':
      return failed(
        'The operator knows the client and refuses it. Ask whether the SIM swap product is enabled for this client and grant, and whether the operator accepts the addresses that this machine sends from.',
      );
    case 'grant type refused':
      return failed(adviceOnGrantType(settings));
    case 'request refused':
      // A poll names a request that was never made, which is a reason of its own.
      if (trial === 'token') return failed(REQUEST_REFUSED);
      return {
        verdict: 'warning',
        advice:
          'The operator refused the form of the request, so it is not known whether it accepts the credentials. Compare the grant of the profile with the onboarding papers; a check with --number shows more.',
      };
    case 'wrong address':
      return failed(
        'The authorization server takes no requests at this path. Compare authUrl and the paths of the profile, or the discovery document, with the onboarding papers.',
      );
    case 'busy':
      return { verdict: 'warning', advice: 'Rate-limited by the operator. Try again later.' };
    case 'down':
      return failed(
        'The authorization server is not available. Try again later; if it stays like this, ask the operator.',
      );
    case 'token not taken':
      return failed(
        'The token is of another type than the profile accepts. Compare tokens.types of the profile, and whether tokens are bound to a key (dpop), with the onboarding papers.',
      );
    case 'not understood':
      return failed(
        'What answers there is not an authorization server. Check the address; a gateway or a proxy on the way may answer in its place.',
      );
    case 'no reply':
      return failed(
        'The exchange broke. The rows above show how far a connection gets; if all are ok, ask the operator what it received.',
      );
  }
}

const REQUEST_REFUSED =
  'The operator refuses the form of the request, so no lookup can succeed. Compare the profile with the onboarding papers: the members of its grant, whether secrets are in the form (post), whether proofs are wanted (dpop).';

const OK: Opinion = { verdict: 'ok' };

function failed(advice: string): Opinion {
  return { verdict: 'failed', advice };
}

function adviceOnProof({ clientAuthentication, grant }: ClientSettings): string {
  const start = 'The operator does not accept our client credentials.';
  if (grant.type === 'jwt-bearer') return `${start} ${ON_KEY}`;
  switch (clientAuthentication.method) {
    case 'basic':
    case 'post':
      return `${start} ${ON_SECRET}`;
    case 'private_key_jwt':
    case 'bearer_jwt':
      return `${start} ${ON_KEY}`;
    case 'both':
      return `${start} ${ON_SECRET} ${ON_KEY}`;
    case 'tls':
      return `${start} Compare client.id and the certificate of tls with what the operator has registered, and its end; ask whether the address for certificates is another.`;
    case 'headers':
      return `${start} Compare client.secret, and the headers of the profile, with the onboarding papers; ask whether a key was renewed.`;
  }
}

const ON_SECRET =
  'Compare client.id and the file of client.secret with the onboarding papers; ask whether the secret was renewed, and whether the client is to sign assertions instead.';

const ON_KEY =
  'Check that the public half of client.key is registered with the operator, under the same kid, that the audience of the profile is what the operator calls itself, and that the clock of this machine is right.';

function adviceOnGrantType({ grant }: ClientSettings): string {
  switch (grant.type) {
    case 'client_credentials':
    case 'jwt-bearer':
      return `The operator does not issue tokens by ${grant.type} at this address. Compare flow, and the grant of the profile, with the onboarding papers.`;
    case 'none':
      return 'The profile has no token step.';
    case 'ciba':
      return 'The operator knows the grant type by another name. Set grantType of the profile to the other of urn:openid:params:grant-type:ciba and urn:openid:params:mc:grant-type:ciba.';
  }
}

/** A requested scope, and the outcome. */
export interface ScopeTrial {
  /** The scope in the settings; empty where the operator has no scopes. */
  readonly wanted: string;
  readonly reply: ClientReply;
}

/** Judges which of the wanted scopes were granted. Pure. */
export function judgeScopes(endpoint: string, trials: readonly ScopeTrial[]): Finding {
  const row = { step: 'scopes', at: endpoint } as const;
  const refused = trials.filter(({ reply }) => reply.standing === 'scope refused');
  if (refused.length > 0) {
    return {
      ...row,
      verdict: 'failed',
      found: `refused: ${listed(refused)}`,
      advice: SCOPES_ADVICE,
    };
  }
  const lacking = trials.flatMap(({ wanted, reply }) => missingScopes(wanted, reply));
  if (lacking.length > 0) {
    return {
      ...row,
      verdict: 'failed',
      found: `not granted: ${lacking.join(' ')}`,
      advice: SCOPES_ADVICE,
    };
  }
  const unjudged = trials.filter(({ reply }) => reply.standing !== 'token issued');
  if (unjudged.length > 0) {
    return { ...row, verdict: 'not tried', found: 'not known without a token: use --number' };
  }
  const wanted = trials.filter((trial) => trial.wanted !== '');
  return { ...row, verdict: 'ok', found: wanted.length === 0 ? 'none needed' : grantText(wanted) };
}

const SCOPES_ADVICE =
  'Ask the operator to enable these scopes for the client, or correct scopes by the onboarding papers; remove from operations what was not ordered.';

/** An operator whose reply has no scopes has granted them (RFC 6749 §5.1), or ignores them. */
function grantText(trials: readonly ScopeTrial[]): string {
  const isSaid = trials.every(({ reply }) => reply.grantedScope !== undefined);
  return `${isSaid ? 'granted' : 'not refused'}: ${listed(trials)}`;
}

function listed(trials: readonly ScopeTrial[]): string {
  return trials.map(({ wanted }) => wanted).join(', ');
}

/** RFC 6749 §5.1: the reply has `scope` where it differs from the requested one. */
function missingScopes(wanted: string, { standing, grantedScope }: ClientReply): readonly string[] {
  if (standing !== 'token issued' || grantedScope === undefined) return [];
  const granted = new Set(grantedScope.split(' '));
  return wanted.split(' ').filter((scope) => scope !== '' && !granted.has(scope));
}

/** Assertions are valid for a minute: with a clock that is further off they are expired, or not valid yet. */
const MAX_AHEAD_SECONDS = 30;

/** A row where the difference of the clocks matters. Pure. */
export function judgeClock(
  endpoint: string,
  { aheadSeconds = 0 }: ClientReply,
): readonly Finding[] {
  if (Math.abs(aheadSeconds) <= MAX_AHEAD_SECONDS) return [];
  const side = aheadSeconds > 0 ? 'ahead of' : 'behind';
  return [
    {
      step: 'clock',
      at: endpoint,
      verdict: 'warning',
      found: `the operator's clock is ${Math.abs(aheadSeconds)} s ${side} ours`,
      advice:
        'Check the clock of this machine (NTP): signed assertions may count as expired, and dates of SIM changes are compared with it.',
    },
  ];
}
