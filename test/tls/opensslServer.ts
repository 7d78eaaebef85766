import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { freePort } from '../support/freePort.ts';
import type { Authority } from './authority.ts';
import type { Certificate } from './certificate.ts';
import { TemporaryFiles } from '../support/temporary.ts';

const PROGRAM = '/usr/bin/openssl';

/** Why tests with such a server are skipped; `undefined` where they run. */
export const NO_OPENSSL = existsSync(PROGRAM)
  ? undefined
  : `Skipped without ${PROGRAM}: apt-get install -y openssl`;

/**
 * OpenSSL's own TLS server. It refuses a client certificate by an alert, as most servers do; Node's servers
 * close the connection silently.
 */
export class OpensslServer implements AsyncDisposable {
  readonly url: string;
  /** What clients sent, and the server's own output. */
  output = '';
  readonly #child: ChildProcess;

  private constructor(port: number, child: ChildProcess) {
    this.url = `https://127.0.0.1:${port}/check`;
    this.#child = child;
  }

  static async start(
    server: Certificate,
    clients: Authority,
    { version, protocol }: { readonly version: 'tls1_2' | 'tls1_3'; readonly protocol: string },
  ): Promise<OpensslServer> {
    const files = new TemporaryFiles();
    const port = await freePort();
    const child = spawn(
      PROGRAM,
      [
        's_server',
        `-accept=127.0.0.1:${port}`,
        `-${version}`,
        `-alpn=${protocol}`,
        `-cert=${files.write('server.pem', server.cert)}`,
        `-key=${files.write('server.key', server.key)}`,
        `-CAfile=${files.write('clients.pem', clients.pem)}`,
        '-Verify=1',
        '-verify_return_error',
      ],
      { stdio: ['pipe', 'pipe', 'ignore'] },
    );
    const started = new OpensslServer(port, child);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      started.output += text;
    });
    while (!started.output.includes('ACCEPT')) await once(child.stdout, 'data');
    return started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}
