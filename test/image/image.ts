import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const BASE_IMAGE = 'docker.io/library/node:24-slim';
const CA_BUNDLE = '/etc/ssl/certs/ca-certificates.crt';

export interface ImageConfig {
  readonly user: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly healthCheck: readonly string[];
}

export interface Image {
  readonly name: string;
  readonly bytes: number;
  readonly baseBytes: number;
  readonly config: ImageConfig;
}

/** Builds the image as the Dockerfile says, with the certificates and the npm settings of this machine. */
export async function buildImage(name: string): Promise<Image> {
  const npmrc = (await run('npm', ['config', 'get', 'userconfig'])).stdout.trim();
  await buildah(
    'bud',
    ...secret('npmrc', npmrc),
    ...secret('ca', CA_BUNDLE),
    '--isolation=chroot',
    '--pull-never',
    '--format=docker',
    `--tag=${name}`,
    PROJECT,
  );
  return {
    name,
    bytes: await bytesOf(name),
    baseBytes: await bytesOf(BASE_IMAGE),
    config: await configOf(name),
  };
}

/** A container of an image whose process runs with the network and the process table of this machine. */
export class Container implements AsyncDisposable {
  output = '';
  readonly #id: string;
  readonly #root: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;

  private constructor(id: string, root: string, child: ChildProcess) {
    this.#id = id;
    this.#root = root;
    this.#child = child;
    this.#ended = once(child, 'exit').then(([code]: unknown[]) =>
      typeof code === 'number' ? code : null,
    );
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    }
  }

  static async start(
    { name, config }: Image,
    settings: Readonly<Record<string, string>>,
  ): Promise<Container> {
    const id = (await buildah('from', '--pull-never', name)).trim();
    const root = (await buildah('mount', id)).trim();
    // What is written from here on is the process's own.
    await run('find', [root, '-xdev', '-exec', 'touch', '-h', '-d', '@0', '{}', '+']);
    const child = spawn('buildah', runWords(id, config.command, settings), {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new Container(id, root, child);
  }

  /** The service's own process: the one that runs Node below the container's. */
  get pid(): number {
    const below = descendantsOf(this.#child.pid ?? 0);
    const found = below.find((pid) => commandOf(pid).includes('dist/src/main.js'));
    if (found === undefined) throw new Error(`Its process is not there: ${this.output}`);
    return found;
  }

  get userId(): number {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    return Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]);
  }

  /** Runs a command beside it, as an orchestrator runs a health check; resolves to its exit code. */
  async exec(
    command: readonly string[],
    settings: Readonly<Record<string, string>>,
  ): Promise<number> {
    const child = spawn('buildah', runWords(this.#id, command, settings), { stdio: 'ignore' });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code ?? -1;
  }

  /** Sends SIGTERM, as a runtime does, and resolves to its exit code. */
  async terminate(): Promise<number | null> {
    process.kill(this.pid, 'SIGTERM');
    return this.#ended;
  }

  /** The files and folders that it has written, as it names them. */
  async written(): Promise<readonly string[]> {
    const { stdout } = await run('find', [
      this.#root,
      '-xdev',
      '-newermt',
      '@1',
      '-printf',
      '/%P\n',
    ]);
    return stdout.split('\n').filter((path) => path !== '' && !isOfTheRuntime(path));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pid of descendantsOf(this.#child.pid ?? 0)) killNow(pid);
    this.#child.kill('SIGKILL');
    await this.#ended;
    await buildah('umount', this.#id);
    await buildah('rm', this.#id);
  }
}

/** What the runtime of the container writes. */
function isOfTheRuntime(path: string): boolean {
  return /^\/(?:$|etc$|etc\/(?:hosts|resolv\.conf)$|dev(?:\/|$)|proc(?:\/|$)|sys(?:\/|$)|run(?:$|\/\.containerenv$))/.test(
    path,
  );
}

function secret(id: string, file: string): readonly string[] {
  try {
    readFileSync(file);
    return ['--secret', `id=${id},src=${file}`];
  } catch {
    return [];
  }
}

async function bytesOf(name: string): Promise<number> {
  const images = JSON.parse(await buildah('images', '--json')) as {
    readonly names: readonly string[] | null;
    readonly size: string;
  }[];
  const found = images.find(({ names }) => names?.some((one) => one.includes(name)));
  const [, amount = '0', unit = ''] = /^([\d.]+)\s*(\w*)$/.exec(found?.size ?? '') ?? [];
  const scale = { KB: 1e3, MB: 1e6, GB: 1e9 }[unit.toUpperCase()] ?? 1;
  return Number(amount) * scale;
}

async function configOf(name: string): Promise<ImageConfig> {
  const { Docker } = JSON.parse(await buildah('inspect', '--type', 'image', name)) as {
    readonly Docker: {
      readonly config: {
        readonly User?: string;
        readonly Entrypoint?: readonly string[];
        readonly Cmd?: readonly string[] | null;
        readonly Env?: readonly string[];
        readonly Healthcheck?: { readonly Test?: readonly string[] };
      };
    };
  };
  const { User = '', Entrypoint = [], Cmd, Env = [], Healthcheck } = Docker.config;
  return {
    user: User,
    command: [...Entrypoint, ...(Cmd ?? [])],
    environment: Object.fromEntries(Env.map((one) => one.split(/=(.*)/s).slice(0, 2))) as Record<
      string,
      string
    >,
    healthCheck: (Healthcheck?.Test ?? []).slice(1),
  };
}

function runWords(
  container: string,
  command: readonly string[],
  settings: Readonly<Record<string, string>>,
): string[] {
  const environment = Object.entries(settings).map(([key, value]) => `--env=${key}=${value}`);
  return words('run', '--isolation=chroot', ...environment, container, '--', ...command);
}

function words(...given: readonly string[]): string[] {
  return ['--storage-driver', 'vfs', ...given];
}

async function buildah(...given: readonly string[]): Promise<string> {
  const { stdout } = await run('buildah', words(...given), { maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

function descendantsOf(pid: number): readonly number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // It has ended meanwhile.
    }
  }
  const below = (of: number): number[] =>
    [...parents].filter(([, parent]) => parent === of).flatMap(([one]) => [one, ...below(one)]);
  return below(pid);
}

/** The command line of a Node process; buildah's own begins with another program. */
function commandOf(pid: number): string {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return command[0]?.endsWith('node') === true ? command.join(' ') : '';
  } catch {
    return '';
  }
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
