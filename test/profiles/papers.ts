import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  randomUUID,
  type KeyObject,
} from 'node:crypto';
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify, type JWTPayload } from 'jose';
import type { Asked, Must, Papers, StrictReply } from './strictOperator.ts';

/** What is known of the lines that every operator of these papers serves, by number. */
interface Line {
  readonly changedHoursAgo: number;
  readonly tellsDate: boolean;
}

/** Numbers of a range reserved for fiction. */
export const LINES = {
  '+447700900003': { changedHoursAgo: 72, tellsDate: true },
  '+447700900004': { changedHoursAgo: 87_600, tellsDate: true },
  '+447700900005': { changedHoursAgo: 30, tellsDate: false },
  '+447700900006': { changedHoursAgo: 87_600, tellsDate: false },
} as const satisfies Readonly<Record<string, Line>>;

const HOUR_MS = 3_600_000;

function lineOf(number: unknown): Line | undefined {
  return new Map<unknown, Line>(Object.entries(LINES)).get(number);
}

function dateOf({ changedHoursAgo, tellsDate }: Line): string | null {
  return tellsDate ? new Date(Date.now() - changedHoursAgo * HOUR_MS).toISOString() : null;
}

const isLine = (value: unknown): boolean => lineOf(value) !== undefined;
const isHours: Must = (value) =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 2400;
const withPlus = (value: unknown): string => `+${String(value).replace(/^\+/, '')}`;
/** A text of this form that counts once. */
const once =
  (form: RegExp): Must =>
  (value, { operator }) =>
    form.test(String(value)) && operator.isFresh(value);
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What requests about a line are answered with that is known to be there: a table has compared it before. */
function known(number: unknown): Line {
  const line = lineOf(number);
  if (line === undefined) throw new Error('No line has this number.');
  return line;
}

const CLIENT = 'client-of-the-contract';

const rsa = (): string => pem(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey);
const ec = (): string => pem(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);

function pem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** What the entries below point to. */
export const SECRETS = {
  PLAYED_SECRET: 'secret-of-the-contract',
  STRANGE_SECRET: 'secret-of-another',
  PLAYED_RSA: rsa(),
  STRANGE_RSA: rsa(),
  PLAYED_EC: ec(),
  STRANGE_EC: ec(),
};

/** An operator as its papers have it, and who has a contract with it. */
export interface Played {
  readonly papers: () => Papers;
  /** What an entry of OPERATORS_FILE says beside its name, profile and prefixes; `whose` credentials. */
  readonly entry: (url: string, whose: 'PLAYED' | 'STRANGE') => object;
}

/** Vonage Identity Insights v0.1. */
const VONAGE: Played = {
  entry: (url, whose) => ({
    simSwapUrl: url,
    client: { id: CLIENT, key: { variable: `${whose}_RSA` } },
  }),
  papers: () => ({
    endpoints: [
      {
        asks: 'lookup',
        method: 'POST',
        path: /^\/v0\.1\/identity-insights$/,
        headers: {
          authorization: async (value, { operator }) => {
            const [scheme, jwt = ''] = String(value).split(' ');
            const claims = await signedClaims(jwt, 'RS256', 'PLAYED_RSA');
            if (scheme !== 'Bearer' || claims?.['application_id'] !== CLIENT) return false;
            return isOfNow(claims, 24 * 3600) && operator.isFresh(claims.jti);
          },
        },
        body: {
          json: {
            phone_number: (value) => isLine(withPlus(value)),
            purpose: 'FraudPreventionAndDetection',
            insights: { sim_swap: { period: isHours } },
          },
        },
        answer: ({ body }) => {
          const line = known(withPlus(body['phone_number']));
          const { insights } = body as { insights: { sim_swap: { period: number } } };
          return vonageInsight({
            latest_sim_swap_at: dateOf(line),
            is_swapped: line.changedHoursAgo <= insights.sim_swap.period,
            status: { code: 'OK', message: 'Success' },
          });
        },
      },
    ],
    refuse: (part) => {
      const [status, title] = part === 'authorization' ? [401, 'Unauthorized'] : [422, 'Invalid'];
      const body = { type: 'https://vonage.example/errors', title, detail: '', instance: '1' };
      return { status, body, headers: { 'content-type': 'application/problem+json' } };
    },
  }),
};

/** A reply of Vonage's. */
export function vonageInsight(sim_swap: object): StrictReply {
  return { status: 200, body: { request_id: randomUUID(), insights: { sim_swap } } };
}

/** Nokia Network as Code behind RapidAPI: CAMARA SIM Swap 1.0 with a key and without a token. */
const NOKIA: Played = {
  entry: (url, whose) => ({
    simSwapUrl: `${url}/passthrough/camara/v1/sim-swap/sim-swap/v0`,
    client: { secret: { variable: `${whose}_SECRET` } },
  }),
  papers: () => {
    const path = '/passthrough/camara/v1/sim-swap/sim-swap/v0';
    const headers = {
      'x-rapidapi-key': SECRETS.PLAYED_SECRET,
      'x-rapidapi-host': 'network-as-code.nokia.rapidapi.com',
    };
    return {
      endpoints: camaraLookups(path, headers, ['authorization'], { phoneNumber: isLine }),
      refuse: (part) => NOKIA_REFUSALS[part] ?? camaraError(400, 'INVALID_ARGUMENT'),
    };
  },
};

const NOKIA_REFUSALS: Readonly<Record<string, StrictReply>> = {
  'x-rapidapi-key': { status: 401, body: { message: 'Invalid API key.' } },
  path: { status: 404, body: { message: 'Endpoint does not exist' } },
};

/** MTN SIM Swap Verification 0.1 behind Apigee. */
const MTN: Played = {
  entry: (url, whose) => ({
    authUrl: url,
    simSwapUrl: `${url}/v1/mobile/phoneNumbers`,
    client: { id: CLIENT, secret: { variable: `${whose}_SECRET` } },
  }),
  papers: () => ({
    echoes: 'transactionid',
    endpoints: [
      {
        asks: 'token',
        method: 'POST',
        path: /^\/v1\/oauth\/access_token$/,
        query: 'grant_type=client_credentials',
        headers: {},
        without: ['authorization'],
        body: { form: { client_id: CLIENT, client_secret: SECRETS.PLAYED_SECRET } },
        answer: () => ({
          status: 200,
          body: { ...MTN_TOKEN, issued_at: String(Date.now()), access_token: randomUUID() },
        }),
      },
      {
        asks: 'lookup',
        method: 'GET',
        path: /^\/v1\/mobile\/phoneNumbers\/(?<digits>[^/]+)\/simswap-date$/,
        number: { digits: (digits) => isLine(`+${String(digits)}`) },
        headers: { authorization: once(BEARER), transactionid: once(UUID) },
        body: 'none',
        answer: ({ path: { digits = '' } }) => mtnDate(digits, dateOf(known(`+${digits}`)) ?? ''),
      },
    ],
    refuse: (part) => {
      const [status, statusCode] = MTN_REFUSALS[part] ?? [400, '5000'];
      const words = { statusMessage: 'refused', supportMessage: '', transactionId: '' };
      return { status, body: { statusCode, ...words } };
    },
  }),
};

const MTN_TOKEN = {
  refresh_token_expires_in: '0',
  token_type: 'BearerToken',
  client_id: CLIENT,
  scope: '',
  expires_in: '3599',
  refresh_count: '0',
  status: 'approved',
};

const BEARER = /^Bearer [A-Za-z0-9\-._~+/]+=*$/;

const MTN_REFUSALS: Readonly<Record<string, readonly [status: number, statusCode: string]>> = {
  authorization: [401, '4000'],
  body: [401, '4000'],
  number: [404, '1000'],
  method: [405, '4001'],
};

/** A reply of MTN's about the number, in digits; without a date the text is empty. */
export function mtnDate(
  customerId: string,
  lastSimSwapDate: string,
  statusCode = '0000',
): StrictReply {
  const words = { statusMessage: 'Successful', transactionId: '232TXYZ-212' };
  return { status: 200, body: { statusCode, ...words, customerId, data: { lastSimSwapDate } } };
}

/** Twilio Lookup v2, `sim_swap`. */
const TWILIO: Played = {
  entry: (url, whose) => ({
    simSwapUrl: `${url}/v2/PhoneNumbers`,
    client: { id: CLIENT, secret: { variable: `${whose}_SECRET` } },
  }),
  papers: () => ({
    endpoints: [
      {
        asks: 'lookup',
        method: 'GET',
        path: /^\/v2\/PhoneNumbers\/(?<number>[^/]+)$/,
        query: 'Fields=sim_swap',
        number: { number: (number) => isLine(decodeURIComponent(String(number))) },
        headers: { authorization: `Basic ${btoa(`${CLIENT}:${SECRETS.PLAYED_SECRET}`)}` },
        body: 'none',
        answer: ({ path: { number = '' } }) => {
          const phoneNumber = decodeURIComponent(number);
          const line = known(phoneNumber);
          const { changedHoursAgo, tellsDate } = line;
          return twilioLookup(phoneNumber, {
            last_sim_swap_date: dateOf(line),
            // With a date the period reaches back to it; without one it is the account's.
            swapped_period: tellsDate ? `PT${changedHoursAgo - 1}H59M59S` : 'PT48H',
            swapped_in_period: tellsDate || changedHoursAgo <= 48,
          });
        },
      },
    ],
    refuse: (part) => {
      const [status, code] = part === 'authorization' ? [401, 20_003] : [404, 20_404];
      const more_info = `https://www.twilio.com/docs/errors/${code}`;
      return { status, body: { code, message: 'refused', more_info, status } };
    },
  }),
};

/** A reply of Twilio's about the number. */
export function twilioLookup(
  phone_number: string,
  last_sim_swap: object | null,
  error_code: number | null = null,
): StrictReply {
  const carrier = {
    carrier_name: 'Vodafone UK',
    mobile_country_code: '276',
    mobile_network_code: '02',
  };
  const sim_swap = { last_sim_swap, ...carrier, error_code };
  const line = { country_code: 'GB', phone_number, valid: true, validation_errors: null };
  return { status: 200, body: { ...line, sim_swap } };
}

/** An operator of CAMARA SIM Swap 2.1 that requires DPoP (CAMARA Security and Interoperability r4.2, RFC 9449). */
const DPOP: Played = {
  entry: (url, whose) => ({
    authUrl: url,
    simSwapUrl: `${url}/sim-swap/v2`,
    client: { id: CLIENT, key: { variable: `${whose}_EC` } },
  }),
  papers: () => dpopPapers({}),
};

const SCOPE = /^dpv:FraudPreventionAndDetection sim-swap:(check|retrieve-date)$/;

interface IssuedToken {
  readonly thumbprint: string;
  readonly number: string;
  readonly scope: string;
}

/** @param nonces that proofs must name, each requested by the reply to a proof without it */
export function dpopPapers(nonces: { token?: string; lookup?: string }): Papers {
  const issued = new Map<string, IssuedToken>();
  const subjects = new Map<Asked['received'], JWTPayload>();
  const proofs = new Map<Asked['received'], { thumbprint: string; nonce: unknown }>();
  const isProof = async (value: unknown, asked: Asked, token?: string): Promise<boolean> => {
    const read = await jwtVerify(String(value), EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: ['ES256', 'RS256'],
    }).catch(() => undefined);
    const jwk = read?.protectedHeader.jwk;
    if (read === undefined || jwk === undefined || 'd' in jwk) return false;
    const { htm, htu, ath, nonce, iat = 0, jti, 'camara:bh': bodyHash } = read.payload;
    const { received, operator } = asked;
    const [address = ''] = received.path.split('?');
    proofs.set(received, { thumbprint: await calculateJwkThumbprint(jwk), nonce });
    return (
      htm === received.method &&
      htu === operator.url + address &&
      Math.abs(Date.now() / 1000 - iat) <= 300 &&
      ath === (token === undefined ? undefined : sha256(token)) &&
      bodyHash === sha256(received.body) &&
      operator.isFresh(jti)
    );
  };
  const isChallenged = ({ received }: Asked): boolean =>
    nonces.lookup !== undefined && proofs.get(received)?.nonce !== nonces.lookup;
  const lookups = camaraLookups(
    '/sim-swap/v2',
    {
      dpop: (value, asked) => isProof(value, asked, tokenOf(asked)),
      authorization: (value, asked) => {
        const token = issued.get(tokenOf(asked));
        const proof = proofs.get(asked.received);
        const operation = asked.received.path.endsWith('/check') ? 'check' : 'retrieve-date';
        // A token works once; a challenge spends none.
        return (
          String(value).startsWith('DPoP ') &&
          token?.thumbprint === proof?.thumbprint &&
          token?.scope === `dpv:FraudPreventionAndDetection sim-swap:${operation}` &&
          (isChallenged(asked) || asked.operator.isFresh(tokenOf(asked)))
        );
      },
    },
    [],
    {},
    (asked) => issued.get(tokenOf(asked))?.number,
  );
  return {
    endpoints: [
      {
        asks: 'token',
        method: 'POST',
        path: /^\/oauth\/v1\/token$/,
        headers: { dpop: (value, asked) => isProof(value, asked) },
        without: ['authorization'],
        body: {
          form: {
            grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
            assertion: async (value, { operator, received }) => {
              const claims = await signedClaims(String(value), 'ES256', 'PLAYED_EC');
              if (claims === undefined || !isOfNow(claims, 300)) return false;
              subjects.set(received, claims);
              const { iss, aud, sub, scope, jti } = claims;
              return (
                iss === CLIENT &&
                aud === `${operator.url}/oauth/v1/token` &&
                /^tel:\+[1-9]\d{4,14}$/.test(String(sub)) &&
                SCOPE.test(String(scope)) &&
                operator.isFresh(jti)
              );
            },
          },
        },
        answer: ({ received }) => {
          const proof = proofs.get(received);
          if (nonces.token !== undefined && proof?.nonce !== nonces.token) {
            const headers = { 'dpop-nonce': nonces.token };
            return { status: 400, body: { error: 'use_dpop_nonce' }, headers };
          }
          const access_token = randomUUID();
          const { sub, scope } = subjects.get(received) ?? {};
          issued.set(access_token, {
            thumbprint: proof?.thumbprint ?? '',
            number: String(sub).replace(/^tel:/, ''),
            scope: String(scope),
          });
          return { status: 200, body: { access_token, token_type: 'DPoP', expires_in: 300 } };
        },
      },
      ...lookups.map((lookup) => ({
        ...lookup,
        answer: (asked: Asked): StrictReply => {
          if (!isChallenged(asked)) return lookup.answer(asked);
          const error = 'DPoP error="use_dpop_nonce"';
          const headers = { 'www-authenticate': error, 'dpop-nonce': nonces.lookup ?? '' };
          return { ...camaraError(401, 'UNAUTHENTICATED'), headers };
        },
      })),
    ],
    refuse: (part) => DPOP_REFUSALS[part] ?? camaraError(400, 'INVALID_ARGUMENT'),
  };
}

const DPOP_REFUSALS: Readonly<Record<string, StrictReply>> = {
  dpop: { status: 400, body: { error: 'invalid_dpop_proof' } },
  authorization: camaraError(401, 'UNAUTHENTICATED'),
  body: { status: 400, body: { error: 'invalid_grant' } },
};

const tokenOf = ({ received }: Asked): string =>
  String(received.headers.authorization).replace(/^DPoP /, '');

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** What an operator of CAMARA was asked by its clients, in turn. */
export interface CamaraRecord {
  /** Each prompt: the number, and the purpose that its owner consented to. */
  readonly prompts: [number: string, purpose: string][];
  /** The scope of each token of client credentials. */
  readonly scopes: string[];
}

interface CamaraToken {
  /** Of whose owner, where there was a consent. */
  readonly number?: string;
  readonly scope: readonly string[];
}

/**
 * An operator of CAMARA as it is written: Security and Interoperability Profile r4.2 with OpenID Connect Discovery, OpenID
 * CIBA Core 1.0 in poll mode, and SIM Swap 2.1.
 */
export function camaraPapers(
  { prompts, scopes }: CamaraRecord = { prompts: [], scopes: [] },
): Papers {
  const pending = new Map<string, CamaraToken>();
  const issued = new Map<string, CamaraToken>();
  const issue = (token: CamaraToken): StrictReply => {
    const access_token = randomUUID();
    issued.set(access_token, token);
    const ofOwner = token.number === undefined ? {} : { id_token: 'ey.ey.sig' };
    return {
      status: 200,
      body: { access_token, token_type: 'Bearer', expires_in: 300, ...ofOwner },
    };
  };
  const isAllowed = (value: unknown, { received }: Asked): boolean => {
    const token = issued.get(String(value).replace(/^Bearer /, ''));
    const operation = received.path.endsWith('/check') ? 'check' : 'retrieve-date';
    return token?.scope.includes(`sim-swap:${operation}`) === true;
  };
  const issuedTo = ({ received }: Asked): CamaraToken =>
    issued.get(String(received.headers.authorization).replace(/^Bearer /, '')) ?? { scope: [] };
  /** "Identifying the phone number from the access token": named once, by the token or by the body. */
  const namesNumberOnce = (body: Readonly<Record<string, unknown>>, asked: Asked): boolean => {
    const { number } = issuedTo(asked);
    return number === undefined ? isLine(body['phoneNumber']) : !('phoneNumber' in body);
  };
  const lineOfToken = (asked: Asked): Line =>
    known(issuedTo(asked).number ?? asked.body['phoneNumber']);
  const lookup = { asks: 'lookup', method: 'POST', headers: { authorization: isAllowed } } as const;
  return {
    endpoints: [
      {
        asks: 'discovery',
        method: 'GET',
        path: /^\/\.well-known\/openid-configuration$/,
        headers: {},
        body: 'none',
        answer: ({ operator: { url } }) => ({
          status: 200,
          body: {
            issuer: url,
            token_endpoint: `${url}/oauth2/token`,
            backchannel_authentication_endpoint: `${url}/oauth2/bc-authorize`,
            backchannel_token_delivery_modes_supported: ['poll'],
            grant_types_supported: [CIBA, 'client_credentials'],
            token_endpoint_auth_methods_supported: ['private_key_jwt'],
          },
        }),
      },
      {
        asks: 'prompt',
        method: 'POST',
        path: /^\/oauth2\/bc-authorize$/,
        headers: {},
        without: ['authorization'],
        body: {
          form: async (_, asked) => {
            const { login_hint, scope, ...others } = asked.body;
            const isComplete =
              /^tel:\+[1-9]\d{4,14}$/.test(String(login_hint)) &&
              String(scope).split(' ').includes('openid') &&
              isPurposed(scope);
            return isComplete && isProofOf(others, asked);
          },
        },
        answer: ({ body }) => {
          const auth_req_id = randomUUID();
          const number = String(body['login_hint']).replace('tel:', '');
          const scope = String(body['scope']).split(' ');
          prompts.push([number, scope.find((one) => one.startsWith('dpv:')) ?? '']);
          pending.set(auth_req_id, { number, scope });
          return { status: 200, body: { auth_req_id, expires_in: 120, interval: 1 } };
        },
      },
      {
        asks: 'token',
        method: 'POST',
        path: /^\/oauth2\/token$/,
        headers: {},
        without: ['authorization'],
        body: {
          form: async (_, asked) => {
            const { grant_type, scope, auth_req_id, ...others } = asked.body;
            const isComplete =
              grant_type === CIBA
                ? scope === undefined && typeof auth_req_id === 'string'
                : grant_type === 'client_credentials' &&
                  auth_req_id === undefined &&
                  !String(scope).split(' ').includes('openid') &&
                  isPurposed(scope);
            return isComplete && isProofOf(others, asked);
          },
        },
        answer: ({ body }) => {
          if (body['grant_type'] !== CIBA) {
            scopes.push(String(body['scope']));
            return issue({ scope: String(body['scope']).split(' ') });
          }
          const id = String(body['auth_req_id']);
          const token = pending.get(id);
          pending.delete(id);
          return token === undefined
            ? { status: 400, body: { error: 'invalid_grant' } }
            : issue(token);
        },
      },
      {
        ...lookup,
        path: /^\/sim-swap\/v2\/check$/,
        body: {
          json: (_, asked) => {
            const { maxAge, ...others } = asked.body;
            const isWindow =
              Number.isInteger(maxAge) && Number(maxAge) >= 1 && Number(maxAge) <= 2400;
            return isWindow && namesNumberOnce(others, asked);
          },
        },
        answer: (asked) => {
          const { changedHoursAgo } = lineOfToken(asked);
          const swapped = changedHoursAgo <= Number(asked.body['maxAge']);
          return { status: 200, body: { swapped } };
        },
      },
      {
        ...lookup,
        path: /^\/sim-swap\/v2\/retrieve-date$/,
        body: { json: (_, asked) => namesNumberOnce(asked.body, asked) },
        answer: (asked) => ({
          status: 200,
          body: { latestSimChange: dateOf(lineOfToken(asked)) },
        }),
      },
    ],
    refuse: (part) =>
      part === 'authorization'
        ? camaraError(401, 'UNAUTHENTICATED')
        : { status: 401, body: { error: 'invalid_client' } },
  };
}

const CIBA = 'urn:openid:params:grant-type:ciba';

/** "There MUST be exactly one purpose", beside scopes of the API. */
function isPurposed(scope: unknown): boolean {
  const values = String(scope).split(' ');
  const purposes = values.filter((one) => /^dpv:[A-Z][A-Za-z]+$/.test(one));
  const ofApi = values.filter((one) => /^sim-swap:(check|retrieve-date)$/.test(one));
  const others = values.length - purposes.length - ofApi.length;
  return purposes.length === 1 && ofApi.length > 0 && others <= 1;
}

/** "Client Authentication": private_key_jwt, of 300 seconds at most, for the full URL of the endpoint; nothing beside it. */
async function isProofOf(
  { client_id = CLIENT, client_assertion, client_assertion_type, ...others }: Asked['body'],
  { operator, received }: Asked,
): Promise<boolean> {
  const claims = await signedClaims(String(client_assertion), 'ES256', 'PLAYED_EC');
  return (
    claims !== undefined &&
    isOfNow(claims, 300) &&
    client_id === CLIENT &&
    client_assertion_type === 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' &&
    claims.iss === CLIENT &&
    claims.sub === CLIENT &&
    claims.aud === operator.url + received.path &&
    operator.isFresh(claims.jti) &&
    Object.keys(others).length === 0
  );
}

/** What the owner of a contract with such an operator writes. */
const camaraEntry =
  (flow: '2-legged' | '3-legged'): Played['entry'] =>
  (url, whose) => ({
    profile: 'camara',
    flow,
    discovery: { issuer: url },
    simSwapUrl: `${url}/sim-swap/v2`,
    client: { id: CLIENT, key: { variable: `${whose}_EC` } },
  });

/** `check` and `retrieve-date` of CAMARA. */
function camaraLookups(
  path: string,
  headers: Readonly<Record<string, Must>>,
  without: readonly string[],
  number: Readonly<Record<string, Must>>,
  numberOf: (asked: Asked) => unknown = ({ body }) => body['phoneNumber'],
): Papers['endpoints'] {
  const common = { asks: 'lookup', method: 'POST', headers, without } as const;
  return [
    {
      ...common,
      path: new RegExp(`^${path}/check$`),
      body: { json: { ...number, maxAge: isHours } },
      answer: (asked) => ({
        status: 200,
        body: { swapped: known(numberOf(asked)).changedHoursAgo <= Number(asked.body['maxAge']) },
      }),
    },
    {
      ...common,
      path: new RegExp(`^${path}/retrieve-date$`),
      body: { json: number },
      answer: (asked) => ({
        status: 200,
        body: { latestSimChange: dateOf(known(numberOf(asked))) },
      }),
    },
  ];
}

function camaraError(status: number, code: string): StrictReply {
  return { status, body: { status, code, message: 'refused' } };
}

/** The claims of a JWT that the key signed; `undefined` for any other text. */
async function signedClaims(
  jwt: string,
  alg: string,
  key: 'PLAYED_RSA' | 'PLAYED_EC',
): Promise<JWTPayload | undefined> {
  const verified = jwtVerify(jwt, createPublicKey(SECRETS[key]), { algorithms: [alg] });
  return (await verified.catch(() => undefined))?.payload;
}

/** Whether it counts now, and no longer than so. */
function isOfNow({ iat, exp }: JWTPayload, longestSeconds: number): boolean {
  const nowSeconds = Date.now() / 1000;
  if (iat === undefined || exp === undefined) return false;
  return iat <= nowSeconds && exp > nowSeconds && exp - iat <= longestSeconds;
}

/** The operators that are no dialect of the simulator's, by their profile. */
export const PLAYED = {
  'vonage-insights': VONAGE,
  nokia: NOKIA,
  mtn: MTN,
  'twilio-lookup': TWILIO,
  'camara-dpop': DPOP,
  camara: { papers: () => camaraPapers(), entry: camaraEntry('3-legged') },
  'camara, 2-legged': { papers: () => camaraPapers(), entry: camaraEntry('2-legged') },
} as const satisfies Readonly<Record<string, Played>>;
