import * as stable from '@opentelemetry/semantic-conventions';
import * as all from '@opentelemetry/semantic-conventions/incubating';
import { startSimulated } from '../test/support/service.ts';
import { Collector } from '../test/tracing/collector.ts';
import { finding, versionsOf, type Finding, type Judge } from './judge.ts';

/** Semantic conventions, "HTTP server span", "HTTP client span" and "Service": what they require, and recommend always. */
const EXPECTED = {
  'a server span': [
    stable.ATTR_HTTP_REQUEST_METHOD,
    stable.ATTR_URL_PATH,
    stable.ATTR_URL_SCHEME,
    stable.ATTR_HTTP_ROUTE,
    stable.ATTR_HTTP_RESPONSE_STATUS_CODE,
    stable.ATTR_SERVER_ADDRESS,
    stable.ATTR_SERVER_PORT,
    stable.ATTR_NETWORK_PROTOCOL_VERSION,
    all.ATTR_GRAPHQL_OPERATION_TYPE,
  ],
  'a client span': [
    stable.ATTR_HTTP_REQUEST_METHOD,
    stable.ATTR_SERVER_ADDRESS,
    stable.ATTR_SERVER_PORT,
    stable.ATTR_URL_FULL,
    stable.ATTR_HTTP_RESPONSE_STATUS_CODE,
  ],
  'the resource': [
    stable.ATTR_SERVICE_NAME,
    stable.ATTR_SERVICE_VERSION,
    all.ATTR_SERVICE_INSTANCE_ID,
    stable.ATTR_TELEMETRY_SDK_NAME,
    stable.ATTR_TELEMETRY_SDK_LANGUAGE,
    stable.ATTR_TELEMETRY_SDK_VERSION,
  ],
} as const;

const SERVER = 2;
const CLIENT = 3;

/** The registry of attribute names, as data: what a name says is not judged. */
export const OPEN_TELEMETRY: Judge = {
  name: "OpenTelemetry's attribute names",
  version: versionsOf(['@opentelemetry/semantic-conventions']),
  form: 'short',
  async judge() {
    await using collector = await Collector.start();
    const service = await startSimulated({ ...collector.settings });
    await service.ask('{ phoneNumber(e164: "+447700900001") { lastSimSwap simSwappedWithin } }');
    await service.ask('{ phoneNumber(e164: "+447700900012") { simSwappedWithin } }');
    await service.stop();
    const { spans, resource } = collector;
    const sets = (kind: number) =>
      spans.filter((span) => span.kind === kind).map(({ attributes }) => attributes);
    const known = new Set<unknown>(Object.values(all));
    const names = new Set([resource, ...spans.map((one) => one.attributes)].flatMap(Object.keys));
    const unknown = [...names].filter((name) => !known.has(name) && !name.startsWith('sim_swap.'));
    return [
      ...hasEach('a server span', sets(SERVER)),
      ...hasEach('a client span', sets(CLIENT)),
      ...hasEach('the resource', [resource]),
      finding('each other name is in the registry', unknown.length === 0, unknown.join(', ')),
    ];
  },
};

function hasEach(what: keyof typeof EXPECTED, sets: readonly object[]): readonly Finding[] {
  return EXPECTED[what].map((name) =>
    finding(
      `${what} has ${name}`,
      sets.length > 0 && sets.every((one) => Object.hasOwn(one, name)),
      `not in each of ${sets.length}`,
    ),
  );
}
