import { createPrivateKey } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { ConnectionFiles } from '../../src/wire/connectionFiles.ts';
import type { TextSource } from '../../src/wire/wireSettings.ts';
import { RecordedLog } from '../support/recordedLog.ts';
import { TemporaryFiles } from '../support/temporary.ts';
import { TestClock } from '../support/testClock.ts';
import { Authority } from '../tls/authority.ts';
import { text } from './testEndpoint.ts';

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

/** Files, and what is read from them. */
class Held implements Disposable {
  readonly clock = new TestClock();
  readonly log = new RecordedLog();
  readonly files: ConnectionFiles;
  changes = 0;
  readonly #written = new TemporaryFiles();

  constructor(texts: Texts, passphrase?: TextSource) {
    this.clock.setWall(Date.now());
    this.#write(texts);
    const file = (name: string) => ({ kind: 'file', path: this.#pathOf(name) }) as const;
    const settings = {
      tls: { certificate: file('certificate'), key: file('key'), ca: file('ca'), passphrase },
      proxy: { url: 'http://proxy.example:3128', credentials: file('credentials') },
    };
    this.files = new ConnectionFiles(settings, { clock: this.clock, log: this.log });
    this.files.onChange(() => {
      this.changes += 1;
    });
  }

  /** Resolves once they were read again. */
  async write(texts: Texts): Promise<void> {
    const before = this.#readings;
    this.#write(texts);
    await vi.waitUntil(
      async () => {
        await this.clock.advance(500);
        return this.#readings > before;
      },
      { interval: 2, timeout: 10_000 },
    );
  }

  get #readings(): number {
    return this.log.lines.filter(({ message }) => message.startsWith('Files have changed')).length;
  }

  #write(texts: Texts): void {
    for (const [name, content] of Object.entries(texts)) {
      if (content === undefined) rmSync(this.#pathOf(name), { force: true });
      else this.#written.write(name, content);
    }
  }

  #pathOf(name: string): string {
    return join(this.#written.folder, name);
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
  it.each(FLAWS)(
    '%s: not used at the start, and later the old ones stay',
    async (_, texts, flaw) => {
      using held = new Held({ ...GOOD, ...texts });
      expect(held.files.material).toBeUndefined();
      expect(held.files.flaw).toContain(flaw);
      expect(held.log.troubles).toHaveLength(1);
      await held.write(GOOD);
      const good = held.files.material;
      expect(good).toBeDefined();
      expect(held.files.flaw).toBeUndefined();
      await held.write(texts);
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
        .flatMap((one) => (one ?? '').replaceAll(/-----.*-----/g, '').split(/\s+/))
        .filter((word) => word.length > 8);
      expect(words.filter((word) => logged.includes(word))).toEqual([]);
    },
  );
});

describe('files of connections that have changed', () => {
  it('are in force at once', async () => {
    using held = new Held(GOOD);
    const before = held.files.material;
    await held.write({ certificate: OTHER.cert, key: OTHER.key });
    expect(held.files.material).not.toBe(before);
    expect(held.changes).toBe(1);
    await held.write({ credentials: 'another:word' });
    expect(held.files.material?.proxyAuthorization).toBe(`Basic ${btoa('another:word')}`);
    expect(held.log.troubles).toEqual([]);
  });

  it('may have an encrypted key whose passphrase is in a file', () => {
    const passphrase = new TemporaryFiles().source('passphrase', 'open it\n');
    using held = new Held({ ...GOOD, key: encrypted }, passphrase);
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
    async (...row) => {
      const [, { cert, key }, flaw] = row;
      using held = new Held({ ...GOOD, certificate: cert, key });
      expect(held.files.material).toBeDefined();
      expect(held.log.troubles).toMatchObject([{ level: 'error', flaw }]);
      await held.write(GOOD);
      expect(held.files.flaw).toBeUndefined();
      const good = held.files.material;
      await held.write({ certificate: cert, key });
      expect(held.files.material).toBe(good);
      expect(held.log.troubles.at(-1)).toMatchObject({ flaw });
    },
  );

  it('that expires within fourteen days is logged each day, and after it has expired', async () => {
    const clock = new TestClock();
    const log = new RecordedLog();
    clock.setWall(Date.now());
    const tls = { certificate: text(soon.cert), key: text(soon.key) };
    const files = new ConnectionFiles({ tls }, { clock, log });
    await clock.advance(7 * 24 * 3_600_000);
    files.close();
    expect(log.troubles.map(({ level }) => level)).toEqual([
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
