import { singleHeader, type HttpReply } from './exchange.ts';

/** A JSON object whose members nobody has looked at yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

const JSON_MEDIA_TYPE = /^application\/(?:[a-z0-9.-]+\+)?json\s*(?:;|$)/i;

/** The reply's body when it says that it is JSON, is JSON, and is an object. */
export function readJsonObject(reply: HttpReply): JsonObject | undefined {
  const mediaType = singleHeader(reply, 'content-type') ?? '';
  if (mediaType !== 'application/json' && !JSON_MEDIA_TYPE.test(mediaType)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(reply.body);
  } catch {
    return undefined;
  }
  return isJsonObject(value) ? value : undefined;
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
