import { inspect } from 'node:util';

/** Holds a secret, and shows nothing of it to logs, JSON, templates and debuggers. */
export abstract class Redacted {
  toString(): string {
    return `${this.constructor.name}(redacted)`;
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}
