import { buildSchema, parse, validate } from 'graphql';

/** What the work below took where the limits of tests were chosen. */
const WORK_MS = 8;
const ROUNDS = 15;

const SCHEMA = buildSchema('type Query { a(b: ID!): Query c: Int }');
const DOCUMENT = `{ ${Array.from({ length: 500 }, (_, n) => `a${n}: a(b: "${n}") { c }`).join(' ')} }`;

/**
 * How many times longer this machine takes than the one where limits of CPU time were chosen, at least 1. Such a limit is
 * multiplied by it: it says how much is computed, whatever the machine.
 */
export function slowness(): number {
  const tookMs = Array.from({ length: ROUNDS }, workMs).toSorted((a, b) => a - b);
  const medianMs = tookMs[Math.floor(ROUNDS / 2)] ?? 0;
  return Math.max(1, medianMs / WORK_MS);
}

function workMs(): number {
  const before = process.threadCpuUsage();
  validate(SCHEMA, parse(DOCUMENT));
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
