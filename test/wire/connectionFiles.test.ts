import { createPrivateKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { FileTexts } from '../../src/system/watchedFiles.ts';
import { ConnectionFiles } from '../../src/wire/connectionFiles.ts';
import type { ConnectionSettings } from '../../src/wire/wireSettings.ts';
import { RecordedLog } from '../support/recordedLog.ts';
import { TestClock } from '../support/testClock.ts';
import { Authority } from '../tls/authority.ts';

const CLIENTS = new Authority('Clients of the operator');
const SERVERS = new Authority('Servers of the operator');
const CLIENT = CLIENTS.issue();
const OTHER = CLIENTS.issue();

const GOOD = {
  certificate: CLIENT.cert,
  key: CLIENT.key,
  ca: SERVERS.pem,
  credentials: 'user:password\n',
};
type Texts = Readonly<Record<string, string | undefined>>;

const file = (path: string) => ({ kind: 'file', path }) as const;

const SETTINGS: ConnectionSettings = {
  tls: { certificate: file('certificate'), key: file('key'), ca: file('ca') },
  proxy: { url: 'http://proxy.example:3128', credentials: file('credentials') },
};

/** Files in memory, and what is read from them. */
class Held implements Disposable {
  readonly clock = new TestClock();
  readonly log = new RecordedLog();
  readonly files: ConnectionFiles;
  changes = 0;
  #texts: FileTexts;
  #onChange: () => void = () => undefined;

  constructor(texts: Texts, settings = SETTINGS) {
    this.clock.setWall(Date.now());
    this.#texts = new Map(Object.entries(texts));
    this.files = new ConnectionFiles(settings, {
      clock: this.clock,
      log: this.log,
      watch: (_, onChange) => {
        this.#onChange = onChange;
        const textsNow = (): FileTexts => this.#texts;
        return {
          get texts() {
            return textsNow();
          },
          close: () => undefined,
        };
      },
    });
    this.files.onChange(() => {
      this.changes += 1;
    });
  }

  write(texts: Texts): void {
    this.#texts = new Map([...this.#texts, ...Object.entries(texts)]);
    this.#onChange();
  }

  [Symbol.dispose](): void {
    this.files.close();
  }
}

const cutOff = (pem: string): string => pem.slice(0, pem.length - 60);
const encrypted = createPrivateKey(CLIENT.key)
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'open it' })
  .toString();

const FLAWS: readonly [string, Texts, string][] = [
  ['a certificate of another key', { certificate: OTHER.cert }, 'of another key'],
  ['a key of another certificate', { key: OTHER.key }, 'of another key'],
  ['a certificate that is cut off', { certificate: cutOff(CLIENT.cert) }, 'is cut off'],
  ['a chain that is cut off', { certificate: CLIENT.cert + cutOff(CLIENTS.pem) }, 'is cut off'],
  ['a certificate file that is empty', { certificate: '' }, 'holds no certificate in PEM'],
  ['a certificate file that is gone', { certificate: undefined }, 'holds no certificate in PEM'],
  ['a key in its place', { certificate: CLIENT.key }, 'holds no certificate in PEM'],
  [
    'a certificate with nonsense in it',
    { certificate: CLIENT.cert.replace(/MII?./, 'AAAA') },
    'contains something other than a certificate',
  ],
  ['a key that is cut off', { key: cutOff(CLIENT.key) }, 'holds no private key in PEM'],
  ['a key that needs a passphrase', { key: encrypted }, 'passphrase does not open'],
  ['authorities that are cut off', { ca: SERVERS.pem + cutOff(CLIENTS.pem) }, 'is cut off'],
  ['a page in place of authorities', { ca: '<html></html>' }, 'holds no certificate in PEM'],
  ['credentials without a colon', { credentials: 'password' }, 'not one line of user:password'],
  ['credentials of two lines', { credentials: 'a:b\nc:d' }, 'not one line of user:password'],
];

describe('files of connections that cannot be used', () => {
  it.each(FLAWS)('%s: not used at the start, and later the old ones stay', (_, texts, flaw) => {
    using held = new Held({ ...GOOD, ...texts });
    expect(held.files.material).toBeUndefined();
    expect(held.files.flaw).toContain(flaw);
    expect(held.log.troubles).toHaveLength(1);
    held.write(GOOD);
    const good = held.files.material;
    expect(good).toBeDefined();
    expect(held.files.flaw).toBeUndefined();
    held.write(texts);
    expect(held.files.material).toBe(good);
    expect(held.changes).toBe(1);
    expect(held.log.troubles.slice(1)).toMatchObject([
      {
        level: 'error',
        message: expect.stringContaining('stay in use') as string,
        flaw: expect.stringContaining(flaw) as string,
      },
    ]);
    const logged = JSON.stringify(held.log.lines);
    expect(logged).not.toContain('BEGIN');
    const words = Object.values({ ...GOOD, ...texts })
      .flatMap((text) => (text ?? '').replaceAll(/-----.*-----/g, '').split(/\s+/))
      .filter((word) => word.length > 8);
    expect(words.filter((word) => logged.includes(word))).toEqual([]);
  });
});

describe('files of connections that have changed', () => {
  it('are in force at once', () => {
    using held = new Held(GOOD);
    const before = held.files.material;
    held.write({ certificate: OTHER.cert, key: OTHER.key });
    expect(held.files.material).not.toBe(before);
    expect(held.changes).toBe(1);
    held.write({ credentials: 'another:word' });
    expect(held.files.material?.proxyAuthorization).toBe(`Basic ${btoa('another:word')}`);
    expect(held.log.troubles).toEqual([]);
  });

  it('may have an encrypted key whose passphrase is in a file', () => {
    const tls = { ...SETTINGS.tls, passphrase: file('passphrase') };
    const texts = { ...GOOD, key: encrypted, passphrase: 'open it\n' };
    using held = new Held(texts, { ...SETTINGS, tls });
    expect(held.log.troubles).toEqual([]);
    expect(held.files.material?.tls).toMatchObject({ key: encrypted, passphrase: 'open it' });
  });

  it('may have a byte order mark, line ends of Windows and a chain', () => {
    const chain = `\uFEFF${CLIENT.cert}${CLIENTS.pem}`.replaceAll('\n', '\r\n');
    using held = new Held({ ...GOOD, certificate: chain, credentials: 'user:password\r\n' });
    expect(held.log.troubles).toEqual([]);
    expect(held.files.material?.proxyAuthorization).toBe(`Basic ${btoa('user:password')}`);
  });
});

describe('a client certificate', () => {
  const expired = CLIENTS.issue({ validDays: [-30, -1] });
  const future = CLIENTS.issue({ validDays: [2, 30] });
  const soon = CLIENTS.issue({ validDays: [-30, 5] });

  const NOT_NOW = [
    ['has expired', expired, 'the certificate has expired (days ago: 1)'],
    ['is not valid yet', future, 'the certificate is not valid yet (days to go: 1)'],
  ] as const;

  it.each(NOT_NOW)(
    'that %s is used, with an error in the log, only without a valid one',
    (...row) => {
      const [, { cert, key }, flaw] = row;
      using held = new Held({ ...GOOD, certificate: cert, key });
      expect(held.files.material).toBeDefined();
      expect(held.log.troubles).toMatchObject([{ level: 'error', flaw }]);
      held.write(GOOD);
      expect(held.files.flaw).toBeUndefined();
      const good = held.files.material;
      held.write({ certificate: cert, key });
      expect(held.files.material).toBe(good);
      expect(held.log.troubles.at(-1)).toMatchObject({ flaw });
    },
  );

  it('that expires within fourteen days is logged each day, and after it has expired', async () => {
    using held = new Held({ ...GOOD, certificate: soon.cert, key: soon.key });
    await held.clock.advance(7 * 24 * 3_600_000);
    expect(held.log.troubles.map(({ level }) => level)).toEqual([
      ...Array.from({ length: 5 }, () => 'warn'),
      ...Array.from({ length: 3 }, () => 'error'),
    ]);
  });

  it('is no longer checked once its files are closed', () => {
    const held = new Held({ ...GOOD, certificate: soon.cert, key: soon.key });
    held.files.close();
    expect(held.clock.sleepers).toBe(0);
  });
});
