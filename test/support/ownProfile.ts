import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Sent only by the test's own profile. */
export const OWN_HEADER = 'x-own-profile';

const PROFILE = `import type { MakeProfile } from 'sim-swap-subgraph/profile';

const ours: MakeProfile = (camara) => ({
  ...camara,
  headers: [{ name: '${OWN_HEADER}', value: 'ours' }],
});
export default ours;
`;

/**
 * Writes operators.json, with one operator by a profile of one's own, and that profile beside it.
 *
 * @returns how the log's first line names the profile
 */
export async function writeOwnProfile(
  folder: string,
  operatorUrl: string,
): Promise<{ readonly profile: string; readonly sha256: string }> {
  const profile = './our-operator.ts';
  const entry = {
    name: 'ours',
    profile,
    prefixes: ['+44'],
    flow: '2-legged',
    authUrl: operatorUrl,
    simSwapUrl: operatorUrl,
    client: { id: 'ours', secret: { file: 'secret' } },
  };
  await writeFile(join(folder, profile), PROFILE);
  await writeFile(join(folder, 'secret'), 'kept-secret-of-the-operator');
  await writeFile(join(folder, 'operators.json'), JSON.stringify({ operators: [entry] }));
  return { profile, sha256: createHash('sha256').update(PROFILE).digest('hex') };
}
