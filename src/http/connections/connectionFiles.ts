import type { Clock } from '../../clock.ts';
import type { FileTexts, FileWatch, WatchFiles } from '../../fileWatch.ts';
import type { Log } from '../../log.ts';
import type { ConnectionSettings, TextSource } from './connectionSettings.ts';
import {
  readMaterial,
  type ConnectionMaterial,
  type ConnectionTexts,
} from './connectionMaterial.ts';

/** How long before its end a certificate is warned of. */
const WARN_BEFORE_MS = 14 * 24 * 3_600_000;

/** What they take. */
export interface ConnectionFilesParts {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: Log;
  readonly watchFiles: WatchFiles;
}

/**
 * What the connections to one operator, issuer or directory are made with, as its files hold it by now. Files that
 * cannot be used leave in force what was read before them, and are told of once.
 */
export class ConnectionFiles {
  readonly settings: ConnectionSettings;
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #log: Log;
  readonly #watched: FileWatch;
  readonly #listeners = new Set<() => void>();
  #material: ConnectionMaterial | undefined;

  constructor(settings: ConnectionSettings, { clock, log, watchFiles }: ConnectionFilesParts) {
    this.settings = settings;
    this.#clock = clock;
    this.#log = log;
    const { tls, proxy } = settings;
    const sources = [tls?.certificate, tls?.key, tls?.passphrase, tls?.ca];
    const paths = [...sources, proxy?.credentials, proxy?.ca].flatMap((source) =>
      source?.kind === 'file' ? [source.path] : [],
    );
    this.#watched = watchFiles([...new Set(paths)], () => this.#changed());
    this.#read();
  }

  /** `undefined` where the files have never been fit for use. Another object whenever they have changed. */
  get material(): ConnectionMaterial | undefined {
    return this.#material;
  }

  /** Calls the listener whenever new connections are made with other material; returns how to end that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#watched.close();
    this.#listeners.clear();
  }

  #changed(): void {
    if (!this.#read()) return;
    this.#log.info('The TLS and proxy files were read anew: new connections use them.');
    for (const listener of this.#listeners) listener();
  }

  /** Returns whether what the files hold is in force. */
  #read(): boolean {
    const read = readMaterial(textsOf(this.settings, this.#watched.texts));
    switch (read.kind) {
      case 'flawed':
        this.#refuse(read.flaw);
        return false;
      case 'read': {
        const flaw = this.#validityFlaw(read.material);
        // Nothing better is known at the start, and it is for the server to judge: clocks differ.
        if (flaw !== undefined && this.#material !== undefined) {
          this.#refuse(flaw);
          return false;
        }
        if (flaw !== undefined)
          this.#log.error(`Our client certificate is refused by most servers: ${flaw}.`);
        this.#material = read.material;
        return true;
      }
    }
  }

  #validityFlaw({ validity }: ConnectionMaterial): string | undefined {
    if (validity === undefined) return undefined;
    const nowMs = this.#clock.nowMs();
    if (nowMs >= validity.untilMs) return `it expired on ${dayOf(validity.untilMs)}`;
    if (nowMs < validity.fromMs) return `it counts from ${dayOf(validity.fromMs)} on`;
    if (nowMs >= validity.untilMs - WARN_BEFORE_MS) {
      this.#log.warn('Our client certificate expires soon.', { day: dayOf(validity.untilMs) });
    }
    return undefined;
  }

  #refuse(flaw: string): void {
    this.#log.error(
      this.#material === undefined
        ? 'The TLS or proxy files cannot be used: no connection is made until they are mended.'
        : 'The TLS or proxy files have changed and cannot be used: the old ones stay in force.',
      { flaw },
    );
  }
}

function textsOf({ tls, proxy }: ConnectionSettings, texts: FileTexts): ConnectionTexts {
  // A file that cannot be read is as one that is empty: the flaw of it is told.
  const textOf = (source: TextSource | undefined): string | undefined => {
    switch (source?.kind) {
      case undefined:
        return undefined;
      case 'text':
        return source.text;
      case 'file':
        return texts.get(source.path) ?? '';
    }
  };
  const line = (source: TextSource | undefined) => textOf(source)?.replace(/\r?\n$/, '');
  return {
    certificate: textOf(tls?.certificate),
    key: textOf(tls?.key),
    passphrase: line(tls?.passphrase),
    ca: textOf(tls?.ca),
    proxyCredentials: line(proxy?.credentials),
    proxyCa: textOf(proxy?.ca),
  };
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
