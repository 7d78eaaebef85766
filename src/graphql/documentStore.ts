import type { DocumentNode } from 'graphql';

/** A field by its name alone takes 510 bytes with its token, its places and its empty lists. */
const MAX_BYTES_PER_TOKEN = 640;

/** Entry, key and node of a document, beside its tokens. */
const DOCUMENT_BYTES = 1024;

/**
 * The documents that were parsed and validated, for Apollo Server, which would keep as many as weigh 30 MiB
 * as JSON: without their source and without comments. Here they weigh what they hold in memory, and the one
 * that was not asked for the longest goes first.
 */
export class DocumentStore {
  readonly #maxBytes: number;
  readonly #documents = new Map<string, { document: DocumentNode; bytes: number }>();
  /** The last in the order, where it is there: most services are asked one document. */
  #latest: string | undefined;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** What all documents hold, at most. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Promise<DocumentNode | undefined> {
    const kept = this.#documents.get(key);
    if (kept === undefined) return NOTHING;
    if (key !== this.#latest) {
      this.#documents.delete(key);
      this.#documents.set(key, kept);
      this.#latest = key;
    }
    return Promise.resolve(kept.document);
  }

  set(key: string, document: DocumentNode): Promise<void> {
    const bytes = bytesOf(document);
    if (bytes > this.#maxBytes) return DONE;
    this.#forget(key);
    for (const oldest of this.#documents.keys()) {
      if (this.#bytes + bytes <= this.#maxBytes) break;
      this.#forget(oldest);
    }
    this.#documents.set(key, { document, bytes });
    this.#latest = key;
    this.#bytes += bytes;
    return DONE;
  }

  delete(key: string): Promise<boolean> {
    return Promise.resolve(this.#forget(key));
  }

  #forget(key: string): boolean {
    this.#bytes -= this.#documents.get(key)?.bytes ?? 0;
    return this.#documents.delete(key);
  }
}

const NOTHING = Promise.resolve(undefined);
const DONE = Promise.resolve();

/** Names are parts of the source, which lives as long as one of them does. */
function bytesOf({ loc }: DocumentNode): number {
  if (loc === undefined) throw new Error('A document is stored with its places.');
  let tokens = 0;
  for (let token = loc.startToken.next; token !== null; token = token.next) tokens += 1;
  return DOCUMENT_BYTES + 2 * loc.source.body.length + tokens * MAX_BYTES_PER_TOKEN;
}
