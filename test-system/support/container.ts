import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What an image says about its process. */
interface ImageConfig {
  readonly user: string;
  readonly environment: readonly string[];
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly health: readonly string[];
}

/** How a container runs. */
export interface ContainerOptions {
  /** The host's folder for /data. */
  readonly data: string;
  /** `user:group`; by default the image's. */
  readonly user?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** More folders of the host, at the same path. */
  readonly folders?: readonly string[];
}

/** The Debian archive of this machine's apt. */
async function findArchive(): Promise<string> {
  const { stdout } = await run('apt-get', ['download', '--print-uris', 'base-files']);
  const [, archive] = /^'(\S+?)\/pool\//.exec(stdout) ?? [];
  if (archive === undefined) throw new Error('apt has no archive of Debian');
  return archive;
}

/** Builds images and runs them below a folder, without a daemon. */
export class ContainerBuilder {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async #buildah(...values: readonly string[]): Promise<string> {
    const own = ['--storage-driver', 'overlay', '--root', join(this.#folder, 'store')];
    const options = { maxBuffer: 50_000_000 };
    const { stdout } = await run(
      'buildah',
      [...own, '--runroot', join(this.#folder, 'run'), ...values],
      options,
    );
    return stdout.trim();
  }

  /** Makes an image like Debian's slim one from packages. */
  async createBase(name: string): Promise<void> {
    const root = join(this.#folder, 'base');
    await run('debootstrap', ['--variant=minbase', 'bookworm', root, await findArchive()], {
      maxBuffer: 50_000_000,
    });
    const container = await this.#buildah('from', 'scratch');
    await this.#buildah('add', container, root, '/');
    await this.#buildah('commit', container, `localhost/${name}`);
  }

  /** Unmounts what the image needed; then its folder can be removed. */
  async close(): Promise<void> {
    await this.#buildah('umount', '--all');
  }

  /** @returns the root file system of the image, and its configuration */
  async build(context: string, base: string): Promise<Image> {
    await this.#buildah(
      ...['bud', '--isolation', 'chroot', '--build-arg', `BASE=localhost/${base}`],
      ...['--format', 'docker', '--tag', 'signalpost', context],
    );
    const container = await this.#buildah('from', 'localhost/signalpost');
    const root = await this.#buildah('mount', container);
    const { Docker } = JSON.parse(await this.#buildah('inspect', container));
    const { config } = Docker;
    return new Image(root, this.#folder, {
      user: config.User,
      environment: config.Env,
      entrypoint: config.Entrypoint,
      command: config.Cmd,
      health: config.Healthcheck.Test.slice(1),
    });
  }
}

/** A built image. */
export class Image {
  readonly config: ImageConfig;
  readonly #root: string;
  readonly #folder: string;

  constructor(root: string, folder: string, config: ImageConfig) {
    this.#root = root;
    this.#folder = folder;
    this.config = config;
  }

  /** Starts a command as a container runtime does: the root read-only, the image's user, no capabilities. */
  start(command: readonly string[], options: ContainerOptions): StartedContainer {
    const { data, user = this.config.user, environment = {}, folders = [] } = options;
    const mount = join(this.#folder, 'mounted');
    const script = [
      'set -eu',
      `mkdir -p ${mount}`,
      `mount --bind ${this.#root} ${mount}`,
      `for folder in ${folders.join(' ')}; do mkdir -p ${mount}$folder; done`,
      `mount -o remount,bind,ro ${mount}`,
      `mount -t tmpfs -o mode=1777 tmpfs ${mount}/tmp`,
      `for folder in ${folders.join(' ')}; do mkdir -p ${mount}$folder; mount --bind $folder ${mount}$folder; done`,
      `mount --bind ${data} ${mount}/data`,
      `mount --rbind /dev ${mount}/dev`,
      `mount -t tmpfs -o mode=1777 tmpfs ${mount}/dev/shm`,
      `mount -t proc proc ${mount}/proc`,
      // The shell of chroot has root's groups and capabilities only until setpriv drops them.
      `exec chroot ${mount} setpriv --reuid ${user.split(':')[0]} --regid ${user.split(':')[1]} --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs "$@"`,
    ].join('\n');
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
    const child = spawn(
      'unshare',
      [
        '--mount',
        'sh',
        '-c',
        script,
        'sh',
        'env',
        '-i',
        ...this.config.environment,
        ...variables,
        ...command,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let output = '';
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk;
    });
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
      });
    const exit = once(child, 'close') as Promise<[number | null]>;
    return {
      output: () => output,
      printed: () => printed,
      exitCode: exit.then(([code]) => code),
      kill: (signal) => child.kill(signal),
    };
  }

  /** Runs a command to its end. */
  async run(
    command: readonly string[],
    options: ContainerOptions,
  ): Promise<{
    readonly code: number | null;
    readonly output: string;
    readonly printed: string;
  }> {
    const started = this.start(command, options);
    const code = await started.exitCode;
    return { code, output: started.output(), printed: started.printed() };
  }
}

/** A command that runs in a container. */
export interface StartedContainer {
  /** What it wrote, to standard output and error. */
  output(): string;
  /** Only standard output. */
  printed(): string;
  readonly exitCode: Promise<number | null>;
  kill(signal: NodeJS.Signals): boolean;
}

/** Installs a packed checkout into the build context of the image. */
export async function installPackage(archive: string, context: string): Promise<void> {
  const folder = join(context, 'container');
  await mkdir(folder, { recursive: true });
  await run(
    'npm',
    ['install', '--prefix', folder, '--omit=dev', '--no-audit', '--no-fund', archive],
    { maxBuffer: 50_000_000, cwd: context },
  );
}
