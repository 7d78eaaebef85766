import { CAMARA_DEFINITION_JUDGES } from './camaraDefinitions.ts';
import { CAMARA_SCENARIO_JUDGES } from './camaraScenarios.ts';
import { COMPOSER_JUDGES } from './composers.ts';
import { GATEWAY_JUDGES } from './gateways.ts';
import { GRAFBASE } from './grafbase.ts';
import { GRAPHQL_OVER_HTTP } from './graphqlOverHttp.ts';
import type { Judge } from './judge.ts';
import { OIDC_PROVIDER_JUDGES } from './oidcProvider.ts';
import { MERMAID } from './mermaid.ts';
import { NODE } from './node.ts';
import { OPEN_TELEMETRY } from './openTelemetry.ts';
import { PACKED_JUDGES } from './packed.ts';
import { PROMETHEUS } from './prometheus.ts';
import { SERVER_JUDGES } from './servers.ts';
import { WGC } from './wgc.ts';

/** All of them, in the order of the page. */
export const JUDGES: readonly Judge[] = [
  ...CAMARA_DEFINITION_JUDGES,
  ...CAMARA_SCENARIO_JUDGES,
  ...OIDC_PROVIDER_JUDGES,
  ...COMPOSER_JUDGES,
  WGC,
  ...GATEWAY_JUDGES,
  GRAFBASE,
  ...SERVER_JUDGES,
  GRAPHQL_OVER_HTTP,
  OPEN_TELEMETRY,
  PROMETHEUS,
  NODE,
  MERMAID,
  ...PACKED_JUDGES,
];
