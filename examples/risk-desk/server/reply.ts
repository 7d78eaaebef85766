/** What a request is answered with. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | Uint8Array;
}

/** The codes of the desk's own errors, which look like those of the graph. */
export type DeskErrorCode =
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'BAD_USER_INPUT'
  | 'BAD_REQUEST'
  | 'RATE_LIMITED'
  | 'UNAVAILABLE';

export function jsonReply(value: unknown, status = 200): Reply {
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  return { status, headers, body: JSON.stringify(value) };
}

export function errorReply(status: number, code: DeskErrorCode, message: string): Reply {
  return jsonReply({ errors: [{ message, extensions: { code } }] }, status);
}

export function redirectTo(location: string, cookies: readonly string[] = []): Reply {
  return { status: 303, headers: { location, 'set-cookie': cookies }, body: '' };
}

/** A page for people, where the app cannot say it. The texts are ours: nothing of a request is in them. */
export function messagePage(
  status: number,
  { title, text, link }: { readonly title: string; readonly text: string; readonly link?: string },
): Reply {
  const more = link === undefined ? '' : `<p><a href="/sign-in">${link}</a></p>`;
  return {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body: `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${text}</p>${more}</html>`,
  };
}
