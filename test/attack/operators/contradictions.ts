import type { Attack } from '../attack.ts';
import { answerText } from '../../wiredOperator.ts';
import { answerIn, number, within } from '../values.ts';

interface Case {
  readonly body: string;
  readonly type?: string;
  readonly operation?: 'retrieve-date';
}

/** Replies with status 200 of which no value may be taken. */
const REPLIES: Readonly<Record<string, Case>> = {
  'true, then false': { body: '{"swapped":true,"swapped":false}' },
  'false, then true': { body: '{"swapped":false,"swapped":true}' },
  'false twice': { body: '{"swapped":false,"swapped":false}' },
  'an escaped name': { body: '{"swapped":true,"\\u0073wapped":false}' },
  'an escaped name first': { body: '{"\\u0073wapped":true,"swapped":false}' },
  'twice inside another': { body: '{"a":{"b":1,"b":2},"swapped":false}' },
  'a problem document': { body: '{"swapped":false}', type: 'application/problem+json' },
  'a problem document with a charset': {
    body: '{"swapped":false}',
    type: 'application/problem+json; charset=utf-8',
  },
  'HTML by its type': { body: '{"swapped":false}', type: 'text/html' },
  'a code beside': { body: '{"swapped":false,"code":"UNAVAILABLE"}' },
  'an error beside': { body: '{"swapped":false,"error":"server_error"}' },
  'a status beside': { body: '{"swapped":false,"status":503}' },
  'a list around': { body: '[{"swapped":false}]' },
  'in an envelope': { body: '{"data":{"swapped":false}}' },
  'by its prototype': { body: '{"__proto__":{"swapped":false}}' },
  text: { body: '{"swapped":"false"}' },
  zero: { body: '{"swapped":0}' },
  null: { body: '{"swapped":null}' },
  'another case': { body: '{"Swapped":false}' },
  'a byte order mark and more': { body: '\ufeff{"swapped":false}{"swapped":true}' },
  'text after': { body: '{"swapped":false} x' },
  nothing: { body: '' },
  'a date twice': {
    body: '{"latestSimChange":"2010-01-01T00:00:00Z","latestSimChange":"2009-01-01T00:00:00Z"}',
    operation: 'retrieve-date',
  },
  'a date and an escaped one': {
    body: '{"latestSimChange":"2025-01-01T00:00:00Z","latest\\u0053imChange":"2009-01-01T00:00:00Z"}',
    operation: 'retrieve-date',
  },
  'a date beside a code': {
    body: '{"latestSimChange":"2010-01-01T00:00:00Z","code":"NOT_FOUND"}',
    operation: 'retrieve-date',
  },
  'a period twice': {
    body: '{"latestSimChange":null,"monitoredPeriod":1,"monitoredPeriod":120}',
    operation: 'retrieve-date',
  },
  'a date that is none': {
    body: '{"latestSimChange":"2010-02-30T00:00:00Z"}',
    operation: 'retrieve-date',
  },
};

export const contradictions: Attack = {
  name: 'contradictions',
  tries: 'to make a wrong false out of replies that contradict themselves',
  holds: 'each is OPERATOR_INVALID_REPLY and no answer',
  async run(stage) {
    const operator = await stage.operator({});
    const targets = {
      check: await stage.serve(operator, { OPERATOR_OPERATIONS: 'check' }),
      'retrieve-date': await stage.serve(operator, { OPERATOR_OPERATIONS: 'retrieve-date' }),
    };
    let told = 0;
    for (const [name, { body, type, operation = 'check' }] of Object.entries(REPLIES)) {
      told += 1;
      operator.script = {
        lookUp: (received, response) => answerText(received, response, body, type),
      };
      const answer = answerIn(await targets[operation].ask(within(number(told))));
      if (answer !== 'OPERATOR_INVALID_REPLY') stage.equals(name, answer, 'OPERATOR_INVALID_REPLY');
      // Many bad replies open the circuit, which is another answer: good ones keep it closed.
      operator.script = {};
      await targets[operation].ask(within(number(100 + told)));
      await targets[operation].ask(within(number(200 + told)));
    }
    stage.holds('replies tried', true, told);
  },
};
