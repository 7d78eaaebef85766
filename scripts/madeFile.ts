import { format, resolveConfig } from 'prettier';

/** A file that is made from a definition, with its expected text. */
export interface MadeFile {
  readonly path: string;
  /** As prettier formats it. */
  readonly text: string;
}

/** As `npm run format` leaves it. */
export async function pretty(text: string, filepath: string): Promise<string> {
  return format(text, { ...(await resolveConfig(filepath)), filepath });
}
