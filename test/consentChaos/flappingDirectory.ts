import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { listen } from '../listening.ts';
import { Random, randomOf } from '../random.ts';
import type { Chronicle } from './chronicle.ts';

/** What it says of one number, and until when. */
interface Word {
  readonly random: Random;
  operator: string;
  untilMs: number;
}

const MAX_KEPT_MS = 4000;
/** From once to the next at most; not in step with the circuit's trials. */
const MAX_AWAY_EVERY_MS = 8000;
const AWAY_MS = 700;

/** A number directory that changes its word about a number again and again, and is away now and then. */
export class FlappingDirectory {
  readonly counts = { asked: 0, changed: 0, unanswered: 0 };
  readonly #operators: readonly [string, ...string[]];
  readonly #chronicle: Chronicle;
  readonly #seed: number;
  readonly #words = new Map<string, Word>();
  readonly #server: Server;
  readonly #random: Random;
  #awayAtMs: number;

  constructor(operators: readonly [string, ...string[]], chronicle: Chronicle, seed: number) {
    this.#operators = operators;
    this.#chronicle = chronicle;
    this.#seed = seed;
    this.#random = new Random(seed);
    this.#awayAtMs = this.#nextAwayAtMs();
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  listen(): Promise<string> {
    return listen(this.#server);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.counts.asked += 1;
    if (this.#isAway()) {
      this.counts.unanswered += 1;
      response.destroy();
      return;
    }
    const { phoneNumber } = (await json(request)) as { phoneNumber: string };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ operator: this.#operatorOf(phoneNumber) }));
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
