import { channel } from 'node:diagnostics_channel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SentHeaders, type Sender } from '../../src/http/sentHeaders.ts';

/** Says what undici says when it hands a request's head to a socket. */
function undiciSends(): void {
  channel('undici:client:sendHeaders').publish({ request: {}, headers: '', socket: {} });
}

describe('SentHeaders', () => {
  let sentHeaders: SentHeaders;

  beforeEach(() => {
    sentHeaders = new SentHeaders();
  });

  afterEach(() => {
    sentHeaders.close();
  });

  function start(): Sender {
    const sender: Sender = { sent: false };
    sentHeaders.starting(sender);
    return sender;
  }

  it('marks the exchange that started last', () => {
    const sender = start();
    expect(sender.sent).toBe(false);
    undiciSends();
    expect(sender.sent).toBe(true);
  });

  it('marks each of several exchanges by its own turn', () => {
    const brokenOff = start();
    const sent = start();
    undiciSends();
    expect([brokenOff.sent, sent.sent]).toEqual([false, true]);
  });

  it('marks nothing for what others of this process send', () => {
    const first = start();
    undiciSends();
    first.sent = false;
    undiciSends();
    expect(first.sent).toBe(false);
  });

  it('listens no more once it is closed', () => {
    const sender = start();
    sentHeaders.close();
    undiciSends();
    expect(sender.sent).toBe(false);
  });
});
