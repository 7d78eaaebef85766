/**
 * A setting of Node's for a child that is given no other environment: what another process has compiled
 * is not compiled again, which halves what the start of a server costs. `vitest.config.ts` sets it.
 */
export const COMPILE_CACHE: Readonly<Record<string, string>> =
  process.env['NODE_COMPILE_CACHE'] === undefined
    ? {}
    : { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] };
