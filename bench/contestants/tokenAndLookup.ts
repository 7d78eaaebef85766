import { CLIENT_AUTHORIZATION, tokenForm, type SCOPES } from './schema.ts';

type Operation = keyof typeof SCOPES;

/** Where the operator takes requests, as the client that posts them names it. */
export type Endpoints<E> = Readonly<Record<Operation | 'token', E>>;

/** Sends one POST and resolves to its JSON; rejects when that is no 200. */
export type PostJson<E> = (
  endpoint: E,
  headers: Record<string, string>,
  body: string,
) => Promise<unknown>;

/** A token and the lookup it buys, by a client of one's choice. */
export function lookingUp<E>(post: PostJson<E>, endpoints: Endpoints<E>) {
  return async (number: string, operation: Operation, body: object): Promise<unknown> => {
    const { access_token: token } = (await post(
      endpoints.token,
      {
        authorization: CLIENT_AUTHORIZATION,
        'content-type': 'application/x-www-form-urlencoded',
      },
      tokenForm(number, operation),
    )) as { access_token: string };
    return post(
      endpoints[operation],
      { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      JSON.stringify(body),
    );
  };
}
