import { SpanKind, SpanStatusCode, type Attributes, type SpanStatus } from '@opentelemetry/api';
import type {
  ConsentMessage,
  ExchangeMessage,
  LookupMessage,
  PlanMessage,
  RequestMessage,
  TokenMessage,
} from '../log/diagnostics.ts';
import { maskPhoneNumbers } from '../domain/mask.ts';

/** A span as it begins. */
export interface SpanBeginning {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
}

/** A span as it ends. */
export interface SpanEnding {
  readonly attributes: Attributes;
  readonly status?: SpanStatus;
}

/** How messages of one channel become spans. */
export interface SpanShape<Message> {
  begin(message: Message): SpanBeginning;
  end(message: Message): SpanEnding;
}

const CORRELATOR = 'sim_swap.correlator';
const OPERATOR = 'sim_swap.operator';
const OPERATION = 'sim_swap.operation';
const OUTCOME = 'sim_swap.outcome';

/** Something is broken, here or at an operator. Other codes are answers: no consent, a quota, bad input. */
const FAULTS =
  /^(?:broken|INTERNAL_SERVER_ERROR|UNAVAILABLE|OPERATOR_.*|AUDIT_UNAVAILABLE|STATE_UNAVAILABLE)$/;

const BROKEN = 'broken';

/** Semantic conventions, "HTTP server". */
export const REQUEST: SpanShape<RequestMessage> = {
  begin: ({ correlator, method }) => ({
    name: `${method} /graphql`,
    kind: SpanKind.SERVER,
    attributes: {
      'http.request.method': method,
      'http.route': '/graphql',
      [CORRELATOR]: correlator,
    },
  }),
  end({ result }) {
    switch (result?.outcome) {
      case 'replied': {
        const { status, code, document = 'other' } = result;
        return endingOf(code, {
          'http.response.status_code': status,
          'sim_swap.document': document,
        });
      }
      case 'broken':
      case undefined:
        return endingOf(BROKEN);
    }
  },
};

export const PLAN: SpanShape<PlanMessage> = {
  begin: ({ correlator, questions }) => ({
    name: 'plan',
    kind: SpanKind.INTERNAL,
    attributes: { [CORRELATOR]: correlator, 'sim_swap.questions': questions },
  }),
  end({ result }) {
    switch (result?.outcome) {
      case 'planned': {
        const { facts, deduced, failures } = result;
        const attributes = { 'sim_swap.facts': facts, 'sim_swap.deduced': deduced };
        return endingOf(failures[0] ?? 'answered', attributes);
      }
      case 'broken':
      case undefined:
        return endingOf(BROKEN);
    }
  },
};

export const TOKEN: SpanShape<TokenMessage> = {
  begin: ({ correlator, operator, grant, operation }) => ({
    name: `token ${grant}`,
    kind: SpanKind.INTERNAL,
    attributes: {
      [CORRELATOR]: correlator,
      [OPERATOR]: operator,
      [OPERATION]: operation,
      'sim_swap.grant': grant,
    },
  }),
  end: ({ result }) => endingOf(result?.outcome ?? BROKEN),
};

export const LOOKUP: SpanShape<LookupMessage> = {
  begin: ({ correlator, operator, operation, maxAgeHours }) => ({
    name: `lookup ${operation}`,
    kind: SpanKind.INTERNAL,
    attributes: {
      [CORRELATOR]: correlator,
      [OPERATOR]: operator,
      [OPERATION]: operation,
      ...(maxAgeHours === undefined ? {} : { 'sim_swap.max_age_hours': maxAgeHours }),
    },
  }),
  end({ result }) {
    if (result === undefined || result.outcome === BROKEN) return endingOf(BROKEN);
    return endingOf(result.outcome, { 'sim_swap.attempts': result.attempts });
  },
};

export const CONSENT: SpanShape<ConsentMessage> = {
  begin: ({ correlator, operator, operation }) => ({
    name: `consent ${operation}`,
    kind: SpanKind.INTERNAL,
    attributes: { [CORRELATOR]: correlator, [OPERATOR]: operator, [OPERATION]: operation },
  }),
  end: ({ result }) => endingOf(result?.outcome ?? BROKEN),
};

/** Semantic conventions, "HTTP client". Without the query: operators want the number there. */
export const EXCHANGE: SpanShape<ExchangeMessage> = {
  begin({ correlator, operator, endpoint, method, url, isRetry }) {
    const { hostname, port, protocol } = new URL(url);
    return {
      name: `${method} ${endpoint}`,
      kind: SpanKind.CLIENT,
      attributes: {
        'http.request.method': method,
        'url.full': url,
        'server.address': hostname.replace(/^\[(.*)\]$/, '$1'),
        'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
        ...(isRetry ? { 'http.request.resend_count': 1 } : {}),
        [CORRELATOR]: correlator,
        [OPERATOR]: operator,
        'sim_swap.endpoint': endpoint,
      },
    };
  },
  end({ result }) {
    switch (result?.outcome) {
      case 'replied': {
        const { status } = result;
        return {
          attributes: {
            'http.response.status_code': status,
            ...(status < 400 ? {} : { 'error.type': String(status) }),
          },
          ...(status < 400 ? {} : { status: { code: SpanStatusCode.ERROR } }),
        };
      }
      case 'connection':
      case 'descriptors':
      case 'timeout':
      case 'cancelled':
      case 'rate':
      case 'invalid-reply':
        return {
          attributes: { 'error.type': result.outcome, 'sim_swap.sent': result.sent },
          // It is a word of undici's or ours, and may in the end have come from outside.
          status: { code: SpanStatusCode.ERROR, message: maskPhoneNumbers(result.detail) },
        };
      case 'broken':
      case undefined:
        return endingOf(BROKEN);
    }
  },
};

function endingOf(outcome: string, attributes: Attributes = {}): SpanEnding {
  return FAULTS.test(outcome)
    ? {
        attributes: { ...attributes, [OUTCOME]: outcome, 'error.type': outcome },
        status: { code: SpanStatusCode.ERROR },
      }
    : { attributes: { ...attributes, [OUTCOME]: outcome } };
}
