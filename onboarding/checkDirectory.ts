import type { NumberDirectorySettings } from '../src/operator/operatorSettings.ts';
import type { OperatorReport } from './finding.ts';
import type { CheckParts } from './operatorUnderCheck.ts';
import { openOwnFiles } from './ownFiles.ts';
import { tryPlace } from './tryPlace.ts';

/** Tries how far a connection to the company's number directory comes; it is asked about nobody. */
export async function checkDirectory(
  settings: NumberDirectorySettings,
  { clock, timeoutMs, watchFiles }: Omit<CheckParts, 'settings'>,
): Promise<OperatorReport> {
  const { files, findings } = openOwnFiles(settings, { clock, watchFiles });
  files.close();
  const way = { http2: 'auto', settings, watchFiles, clock, timeoutMs } as const;
  const tried = await tryPlace(way, { url: settings.url, endpoints: [] });
  return {
    operator: 'number directory',
    findings: [...findings, ...tried.findings],
    billedLookups: 0,
  };
}
