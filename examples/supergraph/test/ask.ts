export interface Reply {
  readonly data: unknown;
  readonly errors?: readonly {
    readonly path?: readonly unknown[];
    readonly extensions: Readonly<Record<string, unknown>>;
  }[];
}

export async function ask(
  url: string,
  query: string,
  {
    variables,
    headers,
    signal,
  }: { variables?: object; headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Reply> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
    signal: signal ?? null,
  });
  return (await reply.json()) as Reply;
}
