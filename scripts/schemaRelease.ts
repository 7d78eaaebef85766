import { writeFileSync } from 'node:fs';
import { publishedSdl, releasedFile, ROLES } from './publishedSdl.ts';

// `npm run schema:release`, with every release: from now on schema:check compares with this.
for (const role of ROLES) writeFileSync(releasedFile(role), publishedSdl(role));
