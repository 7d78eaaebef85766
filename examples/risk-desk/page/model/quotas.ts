/** What is left of one quota. */
export interface Quota {
  /** As the service calls it, such as `numbers`. */
  readonly name: string;
  readonly left: number;
  /** `null` where the policy does not say. */
  readonly limit: number | null;
  readonly refillsAtMs: number;
  /** What the operation of this reply took of it; `null` where the service does not say. */
  readonly counted: number | null;
}

/**
 * Reads the RateLimit header fields for HTTP (IETF draft: `RateLimit: "numbers";r=980;t=3599`, here
 * with a parameter of the service's own, `counted`, and `RateLimit-Policy: "numbers";q=1000;w=3600`). What does not have that form is left out.
 */
export function readQuotas(
  rateLimit: string | null,
  policy: string | null,
  nowMs: number,
): readonly Quota[] {
  const limits = new Map(
    readItems(policy).flatMap(({ name, q }) => (q === undefined ? [] : [[name, q] as const])),
  );
  return readItems(rateLimit).flatMap(({ name, r, t, counted = null }) =>
    r === undefined || t === undefined
      ? []
      : [
          {
            name,
            left: r,
            limit: limits.get(name) ?? null,
            refillsAtMs: nowMs + t * 1000,
            counted,
          },
        ],
  );
}

interface Item {
  readonly name: string;
  readonly q?: number;
  readonly r?: number;
  readonly t?: number;
  readonly counted?: number;
}

function readItems(field: string | null): readonly Item[] {
  return (field ?? '').split(',').flatMap((text): readonly Item[] => {
    const [quoted = '', ...parameters] = text.trim().split(';');
    const name = /^"([^"]+)"$/u.exec(quoted)?.[1];
    if (name === undefined) return [];
    const pairs = parameters.flatMap((parameter): readonly (readonly [string, number])[] => {
      const [, key, digits] = /^\s*(q|r|t|w|counted)=([0-9]{1,12})$/u.exec(parameter) ?? [];
      return key === undefined ? [] : [[key, Number(digits)]];
    });
    return [{ name, ...Object.fromEntries(pairs) }];
  });
}
