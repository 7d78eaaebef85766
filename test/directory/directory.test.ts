import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/system/clock.ts';
import type { NumberDirectorySettings } from '../../src/operator/operatorSettings.ts';
import { line } from '../endToEnd/askedSimSwaps.ts';
import { deadUrl, RecordingServer, type Answer } from '../wire/recordingServer.ts';
import { logInto } from '../support/service.ts';
import { operatorNamed, SeveralOperators, window } from '../support/severalOperators.ts';
import { TestClock } from '../support/testClock.ts';
import { answerText, pend, replying, WiredOperator } from '../support/wiredOperator.ts';
import { askField } from '../support/askedFields.ts';
import { readConfig } from '../../src/config/config.ts';
import type { Environment } from '../../src/config/environment.ts';
import { LightAbortSignal } from '../../src/system/urgency.ts';

/** A moved number: its prefix leads to the losing operator, which still answers `false`. */
const MOVED = line(1);

/** Retries do not pause. */
class EagerClock extends TestClock {
  override sleep(): Promise<void> {
    return Promise.resolve();
  }
}

let losing: WiredOperator;
let gaining: WiredOperator;
beforeEach(async () => {
  losing = await WiredOperator.start();
  gaining = await WiredOperator.start({ lookUp: replying({ swapped: true }) });
});
afterEach(async () => {
  await losing[Symbol.asyncDispose]();
  await gaining[Symbol.asyncDispose]();
});

function directoryAt(
  url: string,
  settings: Partial<NumberDirectorySettings> = {},
): NumberDirectorySettings {
  const headers = { authorization: 'Bearer of-the-company' };
  return { url, headers, timeoutMs: 60_000, keepSeconds: 60, fallback: 'none', ...settings };
}

function asking(
  directory: NumberDirectorySettings,
  clock: Clock = new TestClock(),
  logged: string[] = [],
) {
  const operators = [
    operatorNamed('losing', losing.url, { prefixes: ['+44'] }),
    operatorNamed('gaining', gaining.url),
  ];
  return new SeveralOperators(operators, { directory, clock, log: logInto(logged) });
}

const naming = (operator: unknown, status = 200): Answer => replying({ operator }, status);

function lookups() {
  return { losing: losing.count('lookups'), gaining: gaining.count('lookups') };
}

describe('a number directory', () => {
  it('is called before any operator, by POST, and its answer overrides the prefix', async () => {
    await using directory = await RecordingServer.start(naming('gaining'));
    await using several = asking(directoryAt(`${directory.url}/numbers`));
    expect(await window(several.request(), MOVED)).toBe(true);
    expect(directory.received).toHaveLength(1);
    expect(directory.received[0]).toMatchObject({
      method: 'POST',
      path: '/numbers',
      headers: { authorization: 'Bearer of-the-company', 'content-type': 'application/json' },
      body: JSON.stringify({ phoneNumber: MOVED }),
    });
    expect(lookups()).toEqual({ losing: 0, gaining: 1 });
  });

  it('is called once for concurrent requests, and again after keepSeconds', async () => {
    await using directory = await RecordingServer.start(naming('gaining'));
    const clock = new TestClock();
    await using several = asking(directoryAt(directory.url), clock);
    const one = window(several.request('one'), MOVED);
    await Promise.all([one, window(several.request('two'), MOVED, 24)]);
    expect(directory.received).toHaveLength(1);
    await clock.advance(59_999);
    await window(several.request(), MOVED);
    expect(directory.received).toHaveLength(1);
    await clock.advance(1);
    await window(several.request(), MOVED);
    expect(directory.received).toHaveLength(2);
  });

  it.each<[string, unknown]>([
    ['no operator', null],
    ['an unknown operator', 'of-another-country'],
    ['an inherited member', 'constructor'],
    ['an empty name', ''],
  ])('that names %s: NUMBER_NOT_SERVED, and no operator is called', async (_, operator) => {
    await using directory = await RecordingServer.start(naming(operator));
    const logged: string[] = [];
    await using several = asking(directoryAt(directory.url), new TestClock(), logged);
    expect(await window(several.request(), MOVED)).toBe('NUMBER_NOT_SERVED');
    expect(lookups()).toEqual({ losing: 0, gaining: 0 });
    const isLoud = logged.some((one) => one.startsWith('error The number directory names'));
    expect(isLoud).toBe(operator !== null);
    expect(logged.join('\n')).not.toContain('of-another-country');
  });
});

function text(body: string, type?: string): Answer {
  return (received, response) => answerText(received, response, body, type);
}

const redirect: Answer = (_, response) => {
  response.writeHead(307, { location: `${gaining.url}/elsewhere` }).end();
};

describe('a directory that answers with', () => {
  it.each<[string, Answer]>([
    ['500', naming('gaining', 500)],
    ['404', naming('gaining', 404)],
    ['a number for a name', naming(7)],
    ['no member', replying({})],
    ['a member twice', text('{"operator":"gaining","operator":"losing"}')],
    ['an error with the answer', text('{"operator":"gaining","error":"internal"}')],
    ['HTML', text('<html>Sign in</html>', 'text/html')],
    ['a redirect', redirect],
    ['a reset', (_, response) => response.socket?.resetAndDestroy()],
  ])('%s: OPERATOR_UNAVAILABLE, and no operator is called', async (_, answer) => {
    await using directory = await RecordingServer.start(answer);
    await using several = asking(directoryAt(directory.url), new EagerClock());
    expect(await window(several.request(), MOVED)).toBe('OPERATOR_UNAVAILABLE');
    expect([...losing.received, ...gaining.received]).toEqual([]);
  });

  it('a byte now and then: its own timeout ends it', async () => {
    await using directory = await RecordingServer.start((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 5);
      response.on('close', () => clearInterval(drip));
    });
    await using several = asking(directoryAt(directory.url, { timeoutMs: 100 }), systemClock);
    expect(await window(several.request(), MOVED)).toBe('OPERATOR_UNAVAILABLE');
    expect(lookups()).toEqual({ losing: 0, gaining: 0 });
  });
});

describe('a directory that is down', () => {
  it('with fallback: prefix, leaves the number to the operator of its prefix', async () => {
    const directory = directoryAt(await deadUrl(), { fallback: 'prefix' });
    await using several = asking(directory, new EagerClock());
    expect(await window(several.request(), MOVED)).toBe(false);
    expect(lookups()).toEqual({ losing: 1, gaining: 0 });
  });

  it('is called again by the next request: failures are not kept', async () => {
    let isDown = true;
    await using directory = await RecordingServer.start((received, response) =>
      naming('gaining', isDown ? 400 : 200)(received, response),
    );
    await using several = asking(directoryAt(directory.url));
    expect(await window(several.request(), MOVED)).toBe('OPERATOR_UNAVAILABLE');
    isDown = false;
    expect(await window(several.request(), MOVED)).toBe(true);
  });

  it('or hangs does not hold a request that hangs up; the others get their answer', async () => {
    const held = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    await using directory = await RecordingServer.start((received, response) => {
      arrived.resolve();
      void held.promise.then(() => naming('gaining')(received, response));
    });
    await using several = asking(directoryAt(directory.url));
    const hangingUp = new LightAbortSignal();
    const first = window(several.request('one', hangingUp), MOVED);
    const second = window(several.request('two'), MOVED);
    await arrived.promise;
    hangingUp.abort();
    expect(await first).toBe('OPERATOR_TIMEOUT');
    held.resolve();
    expect(await second).toBe(true);
  });
});

describe('a number whose operator the directory changes', () => {
  let word: unknown;
  let directory: RecordingServer;
  beforeEach(async () => {
    directory = await RecordingServer.start((received, response) =>
      naming(word)(received, response),
    );
  });
  afterEach(() => directory[Symbol.asyncDispose]());

  function askingBoth(settings: Environment, keepFactsSeconds: number) {
    const operators = [
      operatorNamed('losing', losing.url, { prefixes: ['+44'], keepFactsSeconds }, settings),
      operatorNamed('gaining', gaining.url, { keepFactsSeconds }, settings),
    ];
    const consent = { ...readConfig({}).consent, waitMs: 50 };
    const named = directoryAt(`${directory.url}/numbers`, { keepSeconds: 0 });
    return new SeveralOperators(operators, { directory: named, consent, log: logInto([]) });
  }

  it('stays with the operator that prompted the owner, without a second prompt', async () => {
    await using several = askingBoth({ OPERATOR_FLOW: '3-legged' }, 60);
    losing.script = { token: pend };
    word = 'losing';
    expect(await window(several.request(), MOVED)).toBe('CONSENT_PENDING');

    word = 'gaining';
    expect(await window(several.request(), MOVED)).toBe('CONSENT_PENDING');
    expect(await window(several.request('another'), MOVED)).toBe('CONSENT_PENDING');
    losing.script = {};
    await expect.poll(() => window(several.request(), MOVED)).toBe(false);
    expect([losing.count('prompts'), gaining.count('prompts')]).toEqual([1, 0]);
    expect(lookups()).toEqual({ losing: 1, gaining: 0 });
  });

  it('is answered from kept facts before the directory is called', async () => {
    await using several = askingBoth({}, 60);
    word = 'losing';
    expect(await window(several.request(), MOVED)).toBe(false);
    word = 'gaining';
    expect(await window(several.request(), MOVED)).toBe(false);
    expect(directory.received).toHaveLength(1);

    // Other questions go to the operator that serves the number now.
    expect(await window(several.request(), MOVED, 480)).toBe(true);
    const consent = await askField(several.request(), MOVED, 'simSwapConsent');
    expect(consent).toMatchObject({ kind: 'consent', consent: { state: 'NOT_NEEDED' } });
    expect(lookups()).toEqual({ losing: 1, gaining: 1 });

    // Kept facts answer while the directory is down.
    await directory[Symbol.asyncDispose]();
    expect(await window(several.request(), MOVED)).toBe(false);
    expect(await window(several.request(), line(2))).toBe('OPERATOR_UNAVAILABLE');
  });
});
