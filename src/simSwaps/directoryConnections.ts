import type { Clock } from '../system/clock.ts';
import { derived, follow } from '../system/fromFiles.ts';
import { logAbout, type Log } from '../log/log.ts';
import { ConnectionFiles } from '../wire/connectionFiles.ts';
import { Endpoint } from '../wire/endpoint.ts';
import { IdleDetector } from '../wire/spareConnections.ts';
import { EchoPolicy } from '../wire/echo.ts';
import { COMMON_ERRORS } from '../judging/errorMap.ts';
import { Circuit } from '../resilience/circuit.ts';
import { GuardedEndpoint } from '../resilience/guardedEndpoint.ts';
import { RetryBudget } from '../resilience/retries.ts';
import type { NumberDirectorySettings } from '../operator/operatorSettings.ts';

const NUMBER_DIRECTORY = 'number directory';
/** As many connections as to an operator's endpoint. */
const CONNECTIONS = 256;

/** Connections to the company's number directory, with the current headers of its files. */
export class DirectoryConnections {
  readonly settings: NumberDirectorySettings;
  readonly endpoint: GuardedEndpoint;
  readonly #connections: Endpoint;
  readonly #files: ConnectionFiles;
  readonly #unfollow: () => void;
  #headers: NumberDirectorySettings['headers'];

  constructor(
    settings: NumberDirectorySettings,
    parts: { readonly clock: Clock; readonly log: Log },
  ) {
    const { clock } = parts;
    const { url, timeoutMs, headers, fromFiles } = settings;
    const log = logAbout({ operator: NUMBER_DIRECTORY }, parts.log);
    this.settings = settings;
    this.#headers = headers;
    this.#files = new ConnectionFiles(settings, { clock, log });
    this.#unfollow = follow(fromFiles, { clock, log }, (renewed) => {
      this.#headers = renewed.headers;
    });
    this.#connections = new Endpoint(
      {
        name: NUMBER_DIRECTORY,
        url,
        timeoutMs,
        connections: CONNECTIONS,
        http2: 'auto',
        replyCheck: new EchoPolicy('auto', 'fresh', clock),
        headers: derived(
          () => this.#headers,
          (named) => Object.entries(named).flat(),
        ),
      },
      { idleDetector: new IdleDetector(), clock, log, files: this.#files },
    );
    this.endpoint = new GuardedEndpoint(this.#connections, {
      name: NUMBER_DIRECTORY,
      operator: 'none',
      kind: 'directory',
      circuit: new Circuit(clock),
      budget: new RetryBudget(clock),
      rules: { canTakeNewToken: false, retriesDoubtfulLookups: false },
      rate: undefined,
      errors: COMMON_ERRORS,
      nameSetting: (member) => member,
      correlatorForm: 'traceable',
      clock,
      log,
      random: Math.random,
    });
  }

  close(): Promise<void> {
    this.#unfollow();
    this.#files.close();
    return this.#connections.close();
  }
}
