import { describe, expect, it } from 'vitest';
import { DeskCookies } from '../../server/cookies.ts';
import { PENDING_SECONDS, PendingSignIns } from '../../server/pendingSignIn.ts';
import { carriesCsrfToken, Sessions, type Tokens } from '../../server/sessions.ts';

const MINUTE_MS = 60_000;
const LIMITS = {
  idleMs: 30 * MINUTE_MS,
  absoluteMs: 8 * 60 * MINUTE_MS,
  maxSessions: 3,
  maxSessionsPerPerson: 2,
};
const PERSON = { id: 'ana', name: 'Ana', roles: [] };
const TOKENS: Tokens = {
  accessToken: 'a',
  expiresAtMs: 0,
  refreshToken: undefined,
  scopes: [],
};

class Clock {
  ms = 1000;
  readonly read = (): number => this.ms;
}

function started(clock: Clock, count: number): { sessions: Sessions; ids: string[] } {
  const sessions = new Sessions(LIMITS, clock.read);
  const ids = Array.from({ length: count }, (_, n) =>
    sessions.start({ ...PERSON, id: `person ${n}` }, TOKENS),
  );
  return { sessions, ids };
}

describe('a session', () => {
  it('lasts while it is used', () => {
    const clock = new Clock();
    const { sessions, ids } = started(clock, 1);
    for (let n = 0; n < 10; n += 1) {
      clock.ms += 29 * MINUTE_MS;
      expect(sessions.find(ids[0])?.person.name).toBe(PERSON.name);
    }
  });

  it('ends after half an hour without a request, and is forgotten', () => {
    const clock = new Clock();
    const { sessions, ids } = started(clock, 1);
    clock.ms += LIMITS.idleMs;
    expect(sessions.find(ids[0])).toBeUndefined();
    expect(sessions.size).toBe(0);
  });

  it('ends after eight hours, however often it is used', () => {
    const clock = new Clock();
    const { sessions, ids } = started(clock, 1);
    for (let n = 0; n < 8 * 4 - 1; n += 1) {
      clock.ms += 15 * MINUTE_MS;
      expect(sessions.find(ids[0])).toBeDefined();
    }
    clock.ms += 15 * MINUTE_MS;
    expect(sessions.find(ids[0])).toBeUndefined();
  });

  it('that was idle longest gives way when there are too many', () => {
    const { sessions, ids } = started(new Clock(), 3);
    sessions.find(ids[0]);
    const fourth = sessions.start(PERSON, TOKENS);
    expect(sessions.size).toBe(3);
    expect([...ids, fourth].map((id) => sessions.find(id) !== undefined)).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });

  it('that was idle longest gives way when its person has too many', () => {
    const { sessions, ids } = started(new Clock(), 1);
    for (let n = 0; n < 20; n += 1) ids.push(sessions.start(PERSON, TOKENS));
    const alive = ids.map((id) => sessions.find(id) !== undefined);
    expect(alive).toEqual(ids.map((_, n) => n === 0 || n >= ids.length - 2));
  });

  it('of another person does not give way while their own can', () => {
    const { sessions, ids } = started(new Clock(), 2);
    ids.push(sessions.start(PERSON, TOKENS), sessions.start(PERSON, TOKENS));
    expect(ids.map((id) => sessions.find(id) !== undefined)).toEqual([true, true, false, true]);
  });

  it('has an id and a token of its own', () => {
    const { sessions, ids } = started(new Clock(), 2);
    expect(new Set(ids).size).toBe(2);
    const [one, other] = ids.map((id) => sessions.find(id));
    if (one === undefined || other === undefined) throw new Error('There is no session.');
    expect(carriesCsrfToken(one, one.csrfToken)).toBe(true);
    for (const sent of [other.csrfToken, '', undefined, one.csrfToken.slice(1), [one.csrfToken]]) {
      expect(carriesCsrfToken(one, sent)).toBe(false);
    }
  });
});

describe('a pending sign-in', () => {
  const PENDING = { state: 's', nonce: 'n', codeVerifier: 'v' };

  it('comes back as it was, for ten minutes', () => {
    const clock = new Clock();
    const pending = new PendingSignIns(clock.read);
    const sealed = pending.seal(PENDING);
    expect(sealed).not.toContain('codeVerifier');
    clock.ms += PENDING_SECONDS * 1000 - 1;
    expect(pending.open(sealed)).toMatchObject(PENDING);
    clock.ms += 1;
    expect(pending.open(sealed)).toBeUndefined();
  });

  it('signs in once', () => {
    const clock = new Clock();
    const pending = new PendingSignIns(clock.read);
    const sealed = pending.seal(PENDING);
    const opened = pending.open(sealed);
    if (opened === undefined) throw new Error('It is not ours.');
    pending.use(opened);
    expect(pending.open(sealed)).toBeUndefined();
  });

  it('of another process is not ours', () => {
    const clock = new Clock();
    const sealed = new PendingSignIns(clock.read).seal(PENDING);
    expect(new PendingSignIns(clock.read).open(sealed)).toBeUndefined();
  });
});

describe('cookies', () => {
  it('over https are bound to this host and to https', () => {
    const cookies = new DeskCookies('https://desk.example');
    expect(cookies.set('desk-session', 'x')).toBe(
      '__Host-desk-session=x; Path=/; HttpOnly; SameSite=Lax; Secure',
    );
    expect(cookies.read('desk-session=planted; __Host-desk-session=x', 'desk-session')).toBe('x');
  });
});
