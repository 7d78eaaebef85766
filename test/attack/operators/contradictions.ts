import type { Attack } from '../attack.ts';
import { answerText } from '../../wiredOperator.ts';
import { answerIn, number, within } from '../values.ts';

/** Replies with status 200 of which no value may be taken: a body, or a type and a body. */
type Replies = Readonly<Record<string, string | readonly [type: string, body: string]>>;

const FALSE = '{"swapped":false}';

const CHECKS: Replies = {
  'true, then false': '{"swapped":true,"swapped":false}',
  'false, then true': '{"swapped":false,"swapped":true}',
  'false twice': '{"swapped":false,"swapped":false}',
  'an escaped name': '{"swapped":true,"\\u0073wapped":false}',
  'an escaped name first': '{"\\u0073wapped":true,"swapped":false}',
  'twice inside another': '{"a":{"b":1,"b":2},"swapped":false}',
  'a problem document': ['application/problem+json', FALSE],
  'a problem document with a charset': ['application/problem+json; charset=utf-8', FALSE],
  'HTML by its type': ['text/html', FALSE],
  'a code beside': '{"swapped":false,"code":"UNAVAILABLE"}',
  'an error beside': '{"swapped":false,"error":"server_error"}',
  'a status beside': '{"swapped":false,"status":503}',
  'a list around': '[{"swapped":false}]',
  'in an envelope': '{"data":{"swapped":false}}',
  'by its prototype': '{"__proto__":{"swapped":false}}',
  text: '{"swapped":"false"}',
  zero: '{"swapped":0}',
  null: '{"swapped":null}',
  'another case': '{"Swapped":false}',
  'a byte order mark and more': '\ufeff{"swapped":false}{"swapped":true}',
  'text after': '{"swapped":false} x',
  nothing: '',
};

const DATES: Replies = {
  'a date twice':
    '{"latestSimChange":"2010-01-01T00:00:00Z","latestSimChange":"2009-01-01T00:00:00Z"}',
  'a date and an escaped one':
    '{"latestSimChange":"2025-01-01T00:00:00Z","latest\\u0053imChange":"2009-01-01T00:00:00Z"}',
  'a date beside a code': '{"latestSimChange":"2010-01-01T00:00:00Z","code":"NOT_FOUND"}',
  'a period twice': '{"latestSimChange":null,"monitoredPeriod":1,"monitoredPeriod":120}',
  'a date that is none': '{"latestSimChange":"2010-02-30T00:00:00Z"}',
};

export const contradictions: Attack = {
  name: 'contradictions',
  tries: 'to make a wrong false out of replies that contradict themselves',
  holds: 'each is OPERATOR_INVALID_REPLY and no answer',
  async run(stage) {
    const operator = await stage.operator({});
    let told = 0;
    for (const [operation, replies] of Object.entries({ check: CHECKS, 'retrieve-date': DATES })) {
      const target = await stage.serve(operator, { OPERATOR_OPERATIONS: operation });
      for (const [name, reply] of Object.entries(replies)) {
        told += 1;
        const [type, body] = typeof reply === 'string' ? [undefined, reply] : reply;
        operator.script = {
          lookUp: (received, response) => answerText(received, response, body, type),
        };
        const answer = answerIn(await target.ask(within(number(told))));
        if (answer !== 'OPERATOR_INVALID_REPLY') {
          stage.equals(name, answer, 'OPERATOR_INVALID_REPLY');
        }
        // Many bad replies open the circuit, which is another answer: good ones keep it closed.
        operator.script = {};
        await target.ask(within(number(100 + told)));
        await target.ask(within(number(200 + told)));
      }
    }
    stage.holds('replies tried', true, told);
  },
};
