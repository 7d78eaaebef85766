import { request } from 'node:http';
import type { Attack } from '../attack.ts';
import type { Target } from '../target.ts';
import { number, within } from '../values.ts';

const FOREIGN = [
  'evil.example',
  'evil.example:4000',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'evil.example@127.0.0.1',
  'localhost:4000:evil',
  '[::1]evil.example',
  '0.0.0.0',
  '10.0.0.7',
];

export const rebinding: Attack = {
  name: 'rebinding',
  tries: 'to ask from a page whose name was bound to this machine anew, where no token is needed',
  holds: 'a Host that is not this machine is refused and nothing is looked up; localhost is served',
  async run(stage) {
    const operator = await stage.operator({});
    const target = await stage.serve(operator);
    for (const host of FOREIGN) {
      const { status, text } = await askAs(target, host);
      stage.holds(
        `Host: ${host}`,
        status >= 400 && status < 500 && !text.includes('simSwappedWithin'),
        status,
      );
    }
    stage.equals('lookups', operator.count('lookups'), 0);
    const { port } = new URL(target.url);
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, 'localhost']) {
      stage.equals(`Host: ${host}`, (await askAs(target, host)).status, 200);
    }
  },
};

export const otherPages: Attack = {
  name: 'other-pages',
  tries: 'to ask, or to read what was asked, from a page of another origin without a preflight',
  holds: 'simple requests are refused, no origin is allowed, nothing is looked up',
  async run(stage) {
    const operator = await stage.operator({});
    const target = await stage.serve(operator);
    const query = within(number(4));
    const body = JSON.stringify({ query });
    const headers = { origin: 'https://evil.example' };
    const tries: Readonly<Record<string, Promise<Heard>>> = {
      'text/plain': send(target, { headers: { ...headers, 'content-type': 'text/plain' }, body }),
      'a form': send(target, {
        headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
        body: `query=${encodeURIComponent(query)}`,
      }),
      'a form with files': send(target, {
        headers: { ...headers, 'content-type': 'multipart/form-data; boundary=x' },
        body: `--x\r\ncontent-disposition: form-data; name="operations"\r\n\r\n${body}\r\n--x--`,
      }),
      'no type': send(target, { headers, body }),
      GET: send(target, {
        method: 'GET',
        path: `/graphql?query=${encodeURIComponent(query)}`,
        headers,
      }),
      'a preflight': send(target, {
        method: 'OPTIONS',
        headers: {
          ...headers,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'content-type',
        },
      }),
    };
    for (const [name, heard] of Object.entries(tries)) {
      const { status, allowed } = await heard;
      stage.holds(
        name,
        (status >= 400 && status < 500) || (name === 'a preflight' && status < 300),
        status,
      );
      stage.equals(`${name}: origins allowed`, allowed ?? 'none', 'none');
    }
    stage.equals('lookups', operator.count('lookups'), 0);
  },
};

interface Heard {
  readonly status: number;
  readonly text: string;
  readonly allowed: string | undefined;
}

function askAs(target: Target, host: string): Promise<Heard> {
  return send(target, {
    headers: { host, 'content-type': 'application/json' },
    body: JSON.stringify({ query: within(number(4)) }),
  });
}

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

function send(
  { url }: Target,
  { method = 'POST', path = '/graphql', headers, body }: Sent,
): Promise<Heard> {
  const { promise, resolve, reject } = Promise.withResolvers<Heard>();
  const sent = request(`${url}${path}`, { method, headers }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    response.on('end', () => {
      const allowed = response.headers['access-control-allow-origin'];
      resolve({ status: response.statusCode ?? 0, text, allowed });
    });
  });
  sent.on('error', reject).end(body);
  return promise;
}
