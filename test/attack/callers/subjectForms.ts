import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Attack } from '../attack.ts';
import { number, within } from '../values.ts';

/** One number, as issuers write it into a subject. */
const FORMS = [
  '+447700900009',
  '447700900009',
  '07700900009',
  '00447700900009',
  '+44 7700 900009',
  '+44 (0)7700 900009',
  '+44-7700-900-009',
  '+44.7700.900009',
  'tel:+447700900009',
  'tel:447700900009',
  'msisdn:447700900009',
  'MSISDN-447700900009',
  '447700900009@operator.example',
  '+447700900009@operator.example',
  'sip:+447700900009@operator.example;user=phone',
  'user_447700900009',
  'mobile|447700900009',
  'urn:msisdn:447700900009',
  '\uff0b\uff14\uff14\uff17\uff17\uff10\uff10\uff19\uff10\uff10\uff10\uff10\uff19',
  '\uff14\uff14\uff17\uff17\uff10\uff10\uff19\uff10\uff10\uff10\uff10\uff19',
  '%2B447700900009',
  '4 4 7 7 0 0 9 0 0 0 0 9',
  '\u0664\u0664\u0667\u0667\u0660\u0660\u0669\u0660\u0660\u0660\u0660\u0669',
];

/** The national part, whose digits tell who it is. */
const DIGITS = '7700900009';

export const subjectForms: Attack = {
  name: 'subject-forms',
  tries: `to find a person's number in the audit log, whose issuer names people by it in ${FORMS.length} forms`,
  holds: 'no line holds its digits; client and issuer neither, where they look like a number',
  async run(stage) {
    const file = join(await stage.directory(), 'audit.jsonl');
    const { issuer, target, token: any } = await stage.callers({ AUDIT_LOG: file });
    for (const sub of FORMS) {
      for (const names of [{ sub }, { sub: 'alice', client_id: sub }]) {
        const token = await issuer.token({ scope: 'sim-swap:read', ...names });
        await target.ask(within(number(4)), { token });
      }
      const headers = { 'x-correlator': sub.replaceAll(/[^\x20-\x7e]/g, '') };
      await target.ask(within(number(4)), { token: any, headers });
    }
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
    const inClear = lines.filter((line) =>
      digitsOf(line).some((digits) => digits.includes(DIGITS)),
    );
    stage.holds('lines', lines.length >= 2 * FORMS.length, lines.length);
    stage.equals('lines with the number', inClear.length, 0);
    const [first] = inClear;
    if (first !== undefined) stage.holds('such as', false, first);
  },
};

/** The digits of each member, whatever stands between them and in whichever script they are. */
function digitsOf(line: string): readonly string[] {
  const texts: string[] = [];
  const { time: _time, number: _number, ...told } = JSON.parse(line) as Record<string, unknown>;
  JSON.stringify(told, (_key, value: unknown) => {
    if (typeof value === 'string' && !/^[0-9a-f]{64}$/.test(value)) texts.push(value);
    return value;
  });
  return texts.map((text) =>
    text
      .normalize('NFKC')
      .replaceAll(/[\u0660-\u0669]/g, (digit) => String(digit.charCodeAt(0) - 0x660))
      .replaceAll(/\D/g, ''),
  );
}
