/** What a round may come to: how each figure is headed, and with how many decimals it is shown. */
export const FIGURES = {
  cpuMicrosPerNumber: { heading: 'CPU a number, µs', decimals: 1 },
  p50Ms: { heading: 'p50, ms', decimals: 1 },
  p99Ms: { heading: 'p99, ms', decimals: 1 },
  longestLoopDelayMs: { heading: 'loop held up, ms', decimals: 1 },
  scriptsPerQuery: { heading: 'scripts a query', decimals: 1 },
  redisMicrosPerNumber: { heading: 'Redis a number, µs', decimals: 1 },
  lookupsPerQuery: { heading: 'lookups a query', decimals: 1 },
  tokensPerQuery: { heading: 'tokens a query', decimals: 1 },
  promptsPerQuery: { heading: 'prompts a query', decimals: 1 },
  handshakesPerLookup: { heading: 'handshakes a lookup', decimals: 3 },
  fullHandshakesPerLookup: { heading: 'full ones', decimals: 3 },
  bytesPerLookup: { heading: 'bytes a lookup', decimals: 0 },
  usedConnections: { heading: 'connections', decimals: 0 },
  heapBytesPerNumber: { heading: 'heap a number in flight, bytes', decimals: 0 },
  promisesPerNumber: { heading: 'promises a number', decimals: 1 },
  allocatedBytesPerNumber: { heading: 'bytes allocated a number', decimals: 0 },
  heapMebibytes: { heading: 'heap, MiB', decimals: 2 },
  residentMebibytes: { heading: 'resident, MiB', decimals: 0 },
  queriesPerSecond: { heading: 'queries a second', decimals: 0 },
} as const;

export type FigureName = keyof typeof FIGURES;

/** One round's. */
export type Figures = Readonly<Partial<Record<FigureName, number>>>;
