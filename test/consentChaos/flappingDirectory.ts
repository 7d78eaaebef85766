import type { ServerResponse } from 'node:http';
import { answerJson, RecordingServer, type Received } from '../wire/recordingServer.ts';
import { Random, randomOf } from '../support/random.ts';
import type { Chronicle } from './chronicle.ts';

/** Its answer about one number, and until when. */
interface Word {
  readonly random: Random;
  operator: string;
  untilMs: number;
}

const MAX_KEPT_MS = 4000;
/** The longest time between two absences; not in step with the circuit's trials. */
const MAX_AWAY_EVERY_MS = 8000;
const AWAY_MS = 700;

/** A number directory that changes its answers again and again, and is away now and then. */
export class FlappingDirectory {
  readonly counts = { asked: 0, changed: 0, unanswered: 0 };
  readonly #operators: readonly [string, ...string[]];
  readonly #chronicle: Chronicle;
  readonly #seed: number;
  readonly #words = new Map<string, Word>();
  #server: RecordingServer | undefined;
  readonly #random: Random;
  #awayAtMs: number;

  constructor(operators: readonly [string, ...string[]], chronicle: Chronicle, seed: number) {
    this.#operators = operators;
    this.#chronicle = chronicle;
    this.#seed = seed;
    this.#random = new Random(seed);
    this.#awayAtMs = this.#nextAwayAtMs();
  }

  async listen(): Promise<string> {
    this.#server = await RecordingServer.start((...exchange) => this.#serve(...exchange));
    return this.#server.url;
  }

  async close(): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }

  #serve(received: Received, response: ServerResponse): void {
    this.counts.asked += 1;
    if (this.#isAway()) {
      this.counts.unanswered += 1;
      response.destroy();
      return;
    }
    const { phoneNumber } = JSON.parse(received.body) as { phoneNumber: string };
    answerJson(received, response, { operator: this.#operatorOf(phoneNumber) });
  }

  #isAway(): boolean {
    const sinceMs = Date.now() - this.#awayAtMs;
    if (sinceMs >= AWAY_MS) this.#awayAtMs = this.#nextAwayAtMs();
    return sinceMs >= 0 && sinceMs < AWAY_MS;
  }

  #nextAwayAtMs(): number {
    return Date.now() + this.#random.next() * MAX_AWAY_EVERY_MS;
  }

  #operatorOf(number: string): string {
    const word = this.#words.get(number) ?? {
      random: randomOf(this.#seed, number),
      operator: '',
      untilMs: 0,
    };
    this.#words.set(number, word);
    const nowMs = Date.now();
    if (nowMs >= word.untilMs) {
      const operator = word.random.pick(this.#operators);
      if (operator !== word.operator) {
        if (word.operator !== '') this.counts.changed += 1;
        this.#chronicle.happened(`the directory names ${operator}`, number);
      }
      word.operator = operator;
      word.untilMs = nowMs + word.random.next() * MAX_KEPT_MS;
    }
    return word.operator;
  }
}
