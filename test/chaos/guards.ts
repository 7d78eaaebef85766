type Change = readonly [text: string, changed: string];

/** Checks of the service, each as what it takes to turn it off in one file of src. Each text is there once. */
export const GUARDS_IN_CODE = {
  'correlator-check': {
    file: 'src/wire/echo.ts',
    changes: [['if (echoed === correlator) {', 'if (echoed !== undefined) {']],
  },
  'fresh-connections': {
    file: 'src/wire/echo.ts',
    changes: [["return !this.#isEchoDue && this.#silent === 'fresh';", 'return false;']],
  },
  'strict-types': {
    file: 'src/operator/responses.ts',
    changes: [
      [
        "if (value !== reading.true && value !== reading.false) return 'wrong type of swapped';",
        '',
      ],
    ],
  },
  'date-checks': {
    file: 'src/operator/responses.ts',
    changes: [["if (instant.epochMs < FIRST_SIM_MS) return 'date before 1991';", '']],
  },
  'doubt-rule': {
    file: 'src/resilience/retries.ts',
    changes: [
      ['return sent ? NONE : retryWith', 'return retryWith'],
      // A token that is sent twice is refused, and after a refusal no owner is prompted for a minute.
      ['return sent ? onDoubt(rules) :', 'return sent && !rules.canTakeNewToken ? NONE :'],
    ],
  },
  'write-counts': {
    file: 'src/consents/redisScripts.ts',
    changes: [['if ARGV[1] == epoch and tonumber(ARGV[2]) > writes then', 'if false then']],
  },
} as const satisfies Record<string, { file: string; changes: readonly Change[] }>;

/** What can be turned off, so that a run shows what it is for: in code, or by a setting. */
export const GUARDS = [
  'correlator-check',
  'fresh-connections',
  'strict-types',
  'date-checks',
  'doubt-rule',
  'date-margin',
  'time-limit',
  'fact-age',
] as const;

export type Guard = (typeof GUARDS)[number];

/** The flags of Node that turn it off. */
export function flagsWithout(guard: string | undefined): readonly string[] {
  if (guard === undefined || !(guard in GUARDS_IN_CODE)) return [];
  return ['--import', new URL(`withoutGuard.ts?${guard}`, import.meta.url).href];
}
