/** The body of a reply, always with `data` and `errors`. */
export interface Body {
  readonly data: unknown;
  readonly errors: readonly BodyError[];
}

interface BodyError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

export async function ask(url: string, operation: object): Promise<Body> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(operation),
  });
  const { data = null, errors = [] } = (await reply.json()) as Partial<Body>;
  return { data, errors };
}

/** What npm needs for its registry, in environments that are not inherited. */
export const FOR_NPM: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    value !== undefined &&
    /^(?:npm_config_.*|NODE_EXTRA_CA_CERTS|https?_proxy|no_proxy)$/i.test(name)
      ? [[name, value] as const]
      : [],
  ),
);
