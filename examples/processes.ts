import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

type Settings = Readonly<Record<string, string | undefined>>;

/** A program that serves, in a process of its own. */
export interface ServingProcess {
  /** Such as `http://127.0.0.1:4002`. */
  readonly url: string;
  /** Asks it to end, and resolves when it has. */
  stop(): Promise<void>;
}

/** What a program cannot do without. */
interface ProgramOptions {
  /** Otherwise no string becomes code. */
  readonly allowsCodeFromStrings?: boolean;
}

/**
 * Starts a program and resolves when it serves: when it has sent its parent `{ url }`, or has logged that
 * it is listening. Rejects when it ends before.
 */
export async function startProgram(
  file: URL,
  settings: Settings,
  { allowsCodeFromStrings = false }: ProgramOptions = {},
): Promise<ServingProcess> {
  const child = fork(file, {
    env: settings,
    execArgv: [
      ...(allowsCodeFromStrings ? [] : ['--disallow-code-generation-from-strings']),
      // They end with the program that started them, however that ends.
      `--import=${new URL('../src/endWithParent.js', import.meta.url).href}`,
    ],
    // Ctrl-C goes to a whole group of processes; the program that started these stops them one after another.
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const { promise: serving, resolve, reject } = Promise.withResolvers<string>();
  child.once('message', (message) => resolve((message as { url: string }).url));
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const port = listeningPort(line);
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
    });
  }
  void exited.then(() => reject(new Error(`${file.pathname} ended before it served.`)));
  return {
    url: await serving,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function listeningPort(line: string): number | undefined {
  if (!line.startsWith('{')) return undefined;
  const { msg, port } = JSON.parse(line) as { msg?: string; port?: number };
  return msg === 'Listening.' ? port : undefined;
}

/** The port itself where nothing listens on it, or 0, which is any that is free. */
export async function portOrFree(port: number): Promise<number> {
  const probe = createServer().listen(port, '127.0.0.1');
  try {
    await once(probe, 'listening');
  } catch {
    return 0;
  }
  probe.close();
  await once(probe, 'close');
  return port;
}
