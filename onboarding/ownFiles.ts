import type { Clock } from '../src/system/clock.ts';
import type { WatchFiles } from '../src/system/fromFiles.ts';
import { ConnectionFiles } from '../src/http/connections/connectionFiles.ts';
import type { ConnectionSettings } from '../src/http/wireSettings.ts';
import type { Finding } from './finding.ts';
import { judgeFiles } from './judgeConnection.ts';
import { SILENT } from './silent.ts';

/** The files that connections are made with, and the row that tells of them; none where the settings name none. */
export interface OwnFiles {
  readonly files: ConnectionFiles;
  readonly findings: readonly Finding[];
}

/** Reads the files that the settings name. They are to be closed. */
export function openOwnFiles(
  settings: ConnectionSettings,
  { clock, watchFiles }: { readonly clock: Clock; readonly watchFiles: WatchFiles },
): OwnFiles {
  const files = new ConnectionFiles(settings, { clock, log: SILENT, watchFiles });
  if (settings.tls === undefined && settings.proxy === undefined) return { files, findings: [] };
  const trace = { flaw: files.flaw, certificateEndsMs: files.material?.validity?.untilMs };
  return { files, findings: [judgeFiles(trace, clock.nowMs())] };
}
