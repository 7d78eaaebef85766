import { SpanKind, SpanStatusCode, type Attributes, type SpanStatus } from '@opentelemetry/api';
import type {
  ConsentMessage,
  ExchangeMessage,
  LookupMessage,
  PlanMessage,
  RequestMessage,
  TokenMessage,
} from '../log/diagnostics.ts';
import { maskPhoneNumbers } from '../domain/phoneNumber.ts';

export interface SpanBeginning {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
}

export interface SpanEnding {
  readonly attributes: Attributes;
  readonly status?: SpanStatus;
}

export interface SpanShape<Message> {
  begin(message: Message): SpanBeginning;
  end(message: Message): SpanEnding;
}

/** A failure, here or at an operator. Other codes are answers: no consent, a quota, bad input. */
const FAULTS =
  /^(?:broken|INTERNAL_SERVER_ERROR|UNAVAILABLE|OPERATOR_.*|AUDIT_UNAVAILABLE|STATE_UNAVAILABLE)$/;

/** Semantic conventions, "HTTP server" and "GraphQL server". */
export const REQUEST: SpanShape<RequestMessage> = {
  begin: (message) => ({
    name: `${message.method} /graphql`,
    kind: SpanKind.SERVER,
    attributes: {
      ...commonAttributes(message),
      'http.request.method': message.method,
      'http.route': '/graphql',
      'url.path': '/graphql',
      'url.scheme': 'http',
      'server.address': message.host?.name,
      'server.port': message.host?.port,
      'network.protocol.version': message.httpVersion,
    },
  }),
  end({ result }) {
    if (result?.outcome !== 'replied') return endingOf('broken');
    const { status, code, document, operation } = result;
    return endingOf(code, {
      'http.response.status_code': status,
      'graphql.operation.type': operation,
      // The name in an untrusted document is a caller's text.
      'graphql.operation.name': document,
      'sim_swap.document': document ?? 'other',
    });
  },
};

export const PLAN: SpanShape<PlanMessage> = {
  begin: (message) => inside('plan', message, { 'sim_swap.questions': message.questions }),
  end({ result }) {
    if (result?.outcome !== 'planned') return endingOf('broken');
    const { facts, deduced, failures } = result;
    const attributes = { 'sim_swap.facts': facts, 'sim_swap.deduced': deduced };
    return endingOf(failures[0] ?? 'answered', attributes);
  },
};

export const TOKEN: SpanShape<TokenMessage> = {
  begin: (message) =>
    inside(`token ${message.grant}`, message, { 'sim_swap.grant': message.grant }),
  end: ({ result }) => endingOf(result?.outcome ?? 'broken'),
};

export const LOOKUP: SpanShape<LookupMessage> = {
  begin: (message) =>
    inside(`lookup ${message.operation}`, message, {
      'sim_swap.max_age_hours': message.maxAgeHours,
    }),
  end({ result }) {
    if (result === undefined || result.outcome === 'broken') return endingOf('broken');
    return endingOf(result.outcome, { 'sim_swap.attempts': result.attempts });
  },
};

export const CONSENT: SpanShape<ConsentMessage> = {
  begin: (message) => inside(`consent ${message.operation}`, message),
  end: ({ result }) => endingOf(result?.outcome ?? 'broken'),
};

/** Semantic conventions, "HTTP client". Without the query, in which operators take the number. */
export const EXCHANGE: SpanShape<ExchangeMessage> = {
  begin(message) {
    const { endpoint, method, url, isRetry } = message;
    const { hostname, port, protocol } = new URL(url);
    return {
      name: `${method} ${endpoint}`,
      kind: SpanKind.CLIENT,
      attributes: {
        ...commonAttributes(message),
        'http.request.method': method,
        'url.full': url,
        'server.address': hostname.replace(/^\[(.*)\]$/, '$1'),
        'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
        'http.request.resend_count': isRetry ? 1 : undefined,
        'sim_swap.endpoint': endpoint,
      },
    };
  },
  end({ result }) {
    if (result === undefined || result.outcome === 'broken') return endingOf('broken');
    if (result.outcome !== 'replied') {
      return {
        attributes: { 'error.type': result.outcome, 'sim_swap.sent': result.sent },
        // A word of undici or ours, which may contain text from outside.
        status: { code: SpanStatusCode.ERROR, message: maskPhoneNumbers(result.detail) },
      };
    }
    const attributes = { 'http.response.status_code': result.status };
    if (result.status < 400) return { attributes };
    return {
      attributes: { ...attributes, 'error.type': String(result.status) },
      status: { code: SpanStatusCode.ERROR },
    };
  },
};

interface Common {
  readonly correlator: string;
  readonly operator?: string;
  readonly operation?: string;
}

/** A span omits attributes that are undefined. */
function commonAttributes({ correlator, operator, operation }: Common): Attributes {
  return {
    'sim_swap.correlator': correlator,
    'sim_swap.operator': operator,
    'sim_swap.operation': operation,
  };
}

function inside(name: string, message: Common, further: Attributes = {}): SpanBeginning {
  return {
    name,
    kind: SpanKind.INTERNAL,
    attributes: { ...commonAttributes(message), ...further },
  };
}

function endingOf(outcome: string, attributes: Attributes = {}): SpanEnding {
  const all = { ...attributes, 'sim_swap.outcome': outcome };
  return FAULTS.test(outcome)
    ? { attributes: { ...all, 'error.type': outcome }, status: { code: SpanStatusCode.ERROR } }
    : { attributes: all };
}
