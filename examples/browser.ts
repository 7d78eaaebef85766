import { existsSync } from 'node:fs';

const EXECUTABLE = '/usr/bin/chromium';

/** For playwright's `launch`: no network but loopback is needed, and what the browser fetches by itself is off. */
export const LAUNCH_OPTIONS = {
  executablePath: EXECUTABLE,
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
};

/** Whether there is a browser to test in; where not, that is reported. */
export function hasBrowser(): boolean {
  if (existsSync(EXECUTABLE)) return true;
  process.stderr.write(
    `The page in a browser is left out, for there is no ${EXECUTABLE}; to have it: apt-get install -y chromium\n`,
  );
  return false;
}

/** Whether the pictures of docs/ are written: `SCREENSHOTS=write npm test`. */
export const WRITES_PICTURES = process.env['SCREENSHOTS'] === 'write';
