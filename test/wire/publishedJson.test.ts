import type { ServerResponse } from 'node:http';
import { afterEach, expect, it, vi } from 'vitest';
import { PublishedJson } from '../../src/wire/publishedJson.ts';
import { systemClock } from '../../src/system/clock.ts';
import { silentLog } from '../support/silentLog.ts';
import { RecordingServer } from './recordingServer.ts';

const MAX_BYTES = 256 * 1024;

const ok = (body: string) => (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(body);
};

/** What fetching a document from this server returns, and the requests that it took. */
async function fetched(answer: (response: ServerResponse) => unknown) {
  await using server = await RecordingServer.start((_, response) => void answer(response));
  const published = new PublishedJson(
    `${server.url}/jwks`,
    {},
    { clock: systemClock, log: silentLog },
  );
  try {
    const document = await published.fetch().catch((error: unknown) => error);
    return { document, paths: server.received.map(({ path }) => path) };
  } finally {
    await published.close();
  }
}

it('a published document is read', async () => {
  const { document } = await fetched(ok('{"keys":[]}'));
  expect(document).toEqual({ keys: [] });
});

afterEach(() => vi.restoreAllMocks());

it.each<[string, (response: ServerResponse) => unknown, string]>([
  [
    'of more than 256 KB',
    ok(JSON.stringify('x'.repeat(MAX_BYTES))),
    'ResponseExceededMaxSizeError',
  ],
  ['elsewhere', (to) => to.writeHead(302, { location: '/other' }).end(), 'status 302'],
  ['that names a member twice', ok('{"keys":[],"keys":[]}'), 'a member twice'],
  ['that never comes', () => undefined, 'TimeoutError'],
  ['whose end never comes', (to) => to.writeHead(200).write('{'), 'TimeoutError'],
])('fetching a published document %s fails within five seconds', async (_what, answer, name) => {
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  const limit = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / 25));
  const { document, paths } = await fetched(answer);
  expect(document).toMatchObject({ name });
  expect(paths).toEqual(['/jwks']);
  expect(limit).toHaveBeenCalledWith(5000);
});
