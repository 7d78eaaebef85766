import type { Log, LogDetails } from '../../src/log/log.ts';

export interface RecordedLine extends LogDetails {
  readonly level: keyof Log;
  readonly message: string;
}

export class RecordedLog implements Log {
  readonly lines: RecordedLine[] = [];

  info(message: string, details: LogDetails = {}): void {
    this.#add('info', message, details);
  }

  warn(message: string, details: LogDetails = {}): void {
    this.#add('warn', message, details);
  }

  error(message: string, details: LogDetails = {}): void {
    this.#add('error', message, details);
  }

  /** At warn and above, in turn. */
  get troubles(): readonly RecordedLine[] {
    return this.lines.filter(({ level }) => level !== 'info');
  }

  #add(level: keyof Log, message: string, details: LogDetails): void {
    this.lines.push({ ...details, level, message });
  }
}
