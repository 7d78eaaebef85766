import type { Workload } from '../workload.ts';

/** What answers are to be like: every field of every number, or an error for each number. */
export type Expected = 'whole' | 'failed';

interface Answer {
  readonly data?: { readonly phoneNumbers?: readonly Record<string, unknown>[] } | null;
  readonly errors?: readonly { readonly extensions?: { readonly code?: string } }[];
}

const UNKNOWN_NUMBER = 'NUMBER_NOT_SERVED';

/** Refuses the answers of a server that is fast because it does something else. */
export function refuseUnlike(
  expected: Expected,
  name: string,
  text: string,
  { numbers }: Pick<Workload, 'numbers'>,
): void {
  const { data, errors = [] } = JSON.parse(text) as Answer;
  const fields = (data?.phoneNumbers ?? []).flatMap((one) => Object.values(one));
  const isLike =
    data?.phoneNumbers?.length === numbers &&
    (expected === 'whole'
      ? errors.length === 0 && fields.every((field) => field !== null)
      : errors.length === fields.length &&
        errors.every(({ extensions }) => extensions?.code === UNKNOWN_NUMBER));
  if (isLike) return;
  throw new Error(`${name} did not answer as it should: ${text.slice(0, 300)}`);
}
