import type { HttpReply } from '../../src/wire/exchange.ts';

/** A reply whose body is JSON, unless another content type is named. */
export function jsonReply(
  status: number,
  body: unknown,
  headers: HttpReply['headers'] = {},
): HttpReply {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}
