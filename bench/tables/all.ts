import { measureAllocations } from './allocations.ts';
import { measureConsent } from './consent.ts';
import { measureCost } from './cost.ts';
import { measureFailures } from './failures.ts';
import { measureIsolation } from './isolation.ts';
import { measureLatency } from './latency.ts';
import { measureLookups } from './lookups.ts';
import type { Measurement } from './measure.ts';
import { measureMemory } from './memory.ts';
import { measureProcesses } from './processes.ts';
import { measureProduction } from './production.ts';
import { measureNetwork } from './network.ts';
import { measureSizes } from './sizes.ts';
import { measureSustained } from './sustained.ts';
import type { Table } from './table.ts';
import { measureTls } from './tls.ts';

/** Every table, by its name, in the order in which they are measured. */
export const TABLES: Readonly<Record<string, Measurement<Table>>> = {
  lookups: measureLookups,
  tls: measureTls,
  network: measureNetwork,
  cost: measureCost,
  sizes: measureSizes,
  failures: measureFailures,
  production: measureProduction,
  isolation: measureIsolation,
  latency: measureLatency,
  memory: measureMemory,
  allocations: measureAllocations,
  consent: measureConsent,
  processes: measureProcesses,
  sustained: measureSustained,
};
