import type { Clock } from '../src/system/clock.ts';
import type { ConnectionFiles } from '../src/wire/connectionFiles.ts';
import { IdleDetector } from '../src/wire/spareConnections.ts';
import { DpopExchanges } from '../src/resilience/dpopExchanges.ts';
import { ENDPOINT_LABELS } from '../src/operator/operatorEndpoint.ts';
import { Operator } from '../src/operator/operator.ts';
import type { Purpose } from '../src/domain/identity.ts';
import { permitsPurpose, type OperatorSettings } from '../src/operator/operatorSettings.ts';
import type { AuthorizationAddresses } from '../src/tokens/authorizationSettings.ts';
import { createClientAuthentication } from '../src/tokens/clientAuthentication.ts';
import { DpopProofs } from '../src/tokens/dpop.ts';
import { TokenManager } from '../src/tokens/tokenManager.ts';
import { SILENT } from './finding.ts';
import { SingleExchange, type Echo } from './singleExchange.ts';

/** What a check of one operator requires. */
export interface CheckParts {
  readonly settings: OperatorSettings;
  /** Tokens are requested for the first purpose that the operator's contract allows. */
  readonly purposes: readonly [Purpose, ...Purpose[]];
  /** The limit of each step. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** The purpose as it is sent to the operator. Pure. */
export function purposeFor({
  settings,
  purposes,
}: Pick<CheckParts, 'settings' | 'purposes'>): string {
  return (purposes.find((one) => permitsPurpose(settings, one)) ?? purposes[0]).word;
}

/** An operator, put together from the service's own parts, of which every exchange is observed. */
export class OperatorUnderCheck {
  readonly settings: OperatorSettings;
  /** The purpose as it is sent to the operator. */
  readonly purpose: string;
  readonly tokens: TokenManager;
  readonly operator: Operator;
  readonly exchanges: {
    readonly token: SingleExchange;
    readonly backchannelAuthentication: SingleExchange;
    readonly cibaToken: SingleExchange;
    readonly retrieveDate: SingleExchange;
    readonly check: SingleExchange;
  };

  constructor(
    { settings, purposes, clock, timeoutMs }: CheckParts,
    files: ConnectionFiles,
    addresses: AuthorizationAddresses,
  ) {
    const limits = { ...settings.limits, timeoutMs };
    const bounded = { ...settings, limits };
    const shared = {
      idleDetector: new IdleDetector(),
      clock,
      log: SILENT,
      files,
    };
    const dpop = settings.authentication.dpop
      ? new DpopExchanges(new DpopProofs(clock), clock)
      : undefined;
    const at = (name: keyof OperatorUnderCheck['exchanges'], url: string): SingleExchange =>
      new SingleExchange(bounded, { name, url }, shared, dpop);
    const { lookupAddresses } = settings;
    this.settings = settings;
    this.purpose = purposeFor({ settings, purposes });
    this.exchanges = {
      // Never called without a token step.
      token: at('token', addresses.token),
      backchannelAuthentication: at(
        'backchannelAuthentication',
        addresses.backchannelAuthentication,
      ),
      cibaToken: at('cibaToken', addresses.cibaToken),
      retrieveDate: at('retrieveDate', lookupAddresses.retrieveDate),
      check: at('check', lookupAddresses.check),
    };
    const authenticate = createClientAuthentication(settings, clock);
    // Each token is used for one trial, even where the operator would allow another use.
    const once = { ...settings, tokens: { ...settings.tokens, use: 'once' } } as const;
    this.tokens = new TokenManager(once, this.exchanges, authenticate, clock);
    this.operator = new Operator(settings, this.exchanges, clock, () => authenticate);
  }

  /** The echo of our correlator at each endpoint that has replied, by the endpoint's name in the log. */
  get echoes(): readonly (readonly [endpoint: string, echo: Echo])[] {
    const { exchanges } = this;
    return (['token', 'backchannelAuthentication', 'cibaToken', 'retrieveDate', 'check'] as const)
      .map((name) => [ENDPOINT_LABELS[name], exchanges[name].echo] as const)
      .flatMap(([label, echo]) => (echo === undefined ? [] : [[label, echo] as const]));
  }
}
