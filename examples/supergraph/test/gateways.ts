/** The gateways that are tried, each a program that serves the supergraph which SUPERGRAPH names. */
export const GATEWAYS = [
  ['Hive Gateway', new URL('../gateway/main.ts', import.meta.url)],
  ["Apollo's gateway", new URL('apolloGateway.ts', import.meta.url)],
] as const;
