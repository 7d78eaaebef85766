import type { ConnectionSettings } from '../http/connections/connectionSettings.ts';

/** Which traces are recorded (OpenTelemetry, "SDK Environment Variables"). */
export interface SamplerSettings {
  readonly name: SamplerName;
  /** From 0 to 1; of the samplers that go by the trace's id. */
  readonly ratio: number;
}

/** The first is the default. */
export const SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const;

export type SamplerName = (typeof SAMPLERS)[number];

/** How spans are written (OTLP 1, "OTLP/HTTP"). The first is the default. */
export const PROTOCOLS = ['http/protobuf', 'http/json'] as const;

export type Protocol = (typeof PROTOCOLS)[number];

/** Where spans go, and which. */
export interface TracingSettings {
  readonly url: string;
  /** How that is reached. */
  readonly connection: ConnectionSettings;
  readonly protocol: Protocol;
  /** By name; they may hold a secret. */
  readonly headers: ReadonlyMap<string, string>;
  /** For one batch, with its retries. */
  readonly timeoutMs: number;
  /** What all spans say of this process. */
  readonly resource: ReadonlyMap<string, string>;
  readonly sampler: SamplerSettings;
  /** Whether exchanges tell operators which trace and span they belong to. */
  readonly tellsOperators: boolean;
}
