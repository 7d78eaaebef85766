import { existsSync, readFileSync } from 'node:fs';
import { publishedSdl, releasedFile, ROLES } from './publishedSdl.ts';
import { schemaChanges } from './schemaChanges.ts';

// `npm run schema:check`: what changed since the last release; exits with status 1 if it breaks a client.
let breaking = 0;
const released = ROLES.filter((role) => existsSync(releasedFile(role)));
if (released.length === 0) say('There is no release yet.');
for (const role of released) {
  const before = readFileSync(releasedFile(role), 'utf8');
  const changes = await schemaChanges(before, publishedSdl(role));
  breaking += changes.filter(({ level }) => level === 'breaking').length;
  say(`${role}: ${changes.length === 0 ? 'as released' : `${changes.length} change(s)`}`);
  for (const { level, message } of changes) say(`  ${level.padEnd(9)}  ${message}`);
}
// Set by `npm version`: a major version may break clients.
const isMajor = process.env['npm_new_version']?.endsWith('.0.0') === true;
if (breaking > 0 && !isMajor) {
  say('Clients of the last release would break. docs/graph.md says how to change without that.');
  process.exitCode = 1;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
