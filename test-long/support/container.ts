import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const runFile = promisify(execFile);

/** Runs a program to its end. @returns what it printed */
async function run(command: string, args: readonly string[]): Promise<string> {
  const { stdout } = await runFile(command, args, { maxBuffer: 50_000_000 });
  return stdout.trim();
}

/** Names of Debian, and of images. */
export type Architecture = 'amd64' | 'arm64';

/** What an image is, and what it says about its process. */
interface ImageConfig {
  /** The folder of its root file system. */
  readonly root: string;
  readonly architecture: string;
  /** As engines show it, such as `340 MB`. */
  readonly size: string;
  readonly user: string;
  readonly environment: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly health: readonly string[];
}

/** A folder or file of the host in a container. */
export interface Mount {
  readonly source: string;
  readonly target: string;
}

/** How a container runs. Its root is read-only except for `/tmp` and what is mounted. */
export interface ContainerOptions {
  /** `user:group`; by default the image's. */
  readonly user?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly mounts?: readonly Mount[];
}

/** The Debian archive of this machine's apt. */
async function findArchive(): Promise<string> {
  const printed = await run('apt-get', ['download', '--print-uris', 'base-files']);
  const [, archive] = /^'(\S+?)\/pool\//.exec(printed) ?? [];
  if (archive === undefined) throw new Error('apt has no archive of Debian');
  return archive;
}

/** Folders whose content isn't in Debian's slim images. */
const leftOut = [
  ...['usr/share/info', 'usr/share/locale', 'usr/share/man'],
  ...['var/cache/apt', 'var/lib/apt/lists', 'var/log'],
];

/** The options of npm on this machine that a build needs, too. */
const npmrc = 'cafile=/etc/ssl/certs/ca-certificates.crt\ncache=/var/cache/npm\n';

/** Builds images and runs them below a folder, without a daemon. */
export class ContainerBuilder {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  #buildah(...values: readonly string[]): Promise<string> {
    const folders = ['--root', join(this.#folder, 'store'), '--runroot', join(this.#folder, 'run')];
    const buildah = ['buildah', '--storage-driver', 'overlay', ...folders, ...values];
    return run('env', [`TMPDIR=${this.#folder}`, ...buildah]);
  }

  /** Makes an image like Debian's slim one from packages. */
  async createBase(name: string, architecture: Architecture): Promise<void> {
    const root = join(this.#folder, name);
    const options = [`--arch=${architecture}`, '--variant=minbase'];
    await run('debootstrap', [...options, 'bookworm', root, await findArchive()]);
    for (const folder of leftOut)
      for (const entry of await readdir(join(root, folder)))
        await rm(join(root, folder, entry), { recursive: true });
    await run('find', [
      join(root, 'usr/share/doc'),
      '-type',
      'f',
      '!',
      '-name',
      'copyright',
      '-delete',
    ]);
    const container = await this.#buildah('from', '--arch', architecture, 'scratch');
    await this.#buildah('add', container, root, '/');
    await this.#buildah('commit', container, `localhost/${name}`);
    await rm(root, { recursive: true });
  }

  /** Makes an image with npm from one of `createBase`, like that of the Node project. */
  async createNode(name: string, base: string): Promise<void> {
    const container = await this.#buildah('from', `localhost/${base}`);
    const certificates = '/etc/ssl/certs/ca-certificates.crt';
    const program = await run('sh', ['-c', 'readlink -f "$(command -v npm)"']);
    const npm = join(dirname(program), '..');
    await this.#buildah('add', container, process.execPath, '/usr/local/bin/node');
    await this.#buildah('add', container, npm, '/usr/local/lib/node_modules/npm');
    await this.#buildah('add', container, certificates, certificates);
    const commands = [
      'ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm',
      'apt-get update',
      'apt-get install -y --no-install-recommends libatomic1',
    ];
    const script = ['sh', '-c', commands.join(' && ')];
    await this.#buildah('run', '--isolation', 'chroot', container, '--', ...script);
    await this.#buildah('commit', container, `localhost/${name}`);
  }

  /** Unmounts what the images needed; then their folder can be removed. */
  async close(): Promise<void> {
    await this.#buildah('umount', '--all');
  }

  /**
   * Builds the Dockerfile of a checkout.
   * @param base name of an image of `createBase`
   * @param node name of an image of `createNode`
   */
  async build(
    context: string,
    {
      base,
      node,
      architecture = 'amd64',
      embeddedPostgres = false,
    }: {
      readonly base: string;
      readonly node: string;
      readonly architecture?: Architecture;
      readonly embeddedPostgres?: boolean;
    },
  ): Promise<Image> {
    const tag = `localhost/signalpost-${architecture}${embeddedPostgres ? '-postgres' : ''}`;
    const secret = join(this.#folder, 'npmrc');
    await writeFile(secret, npmrc);
    await this.#buildah(
      ...['bud', '--isolation', 'chroot', '--format', 'docker', '--layers'],
      ...['--platform', `linux/${architecture}`, '--tag', tag, '--pull-never'],
      // Debian's Buildah takes the platform of the image for that of its builder.
      ...['--build-arg', 'BUILDPLATFORM=linux/amd64'],
      ...['--build-arg', `BASE=localhost/${base}`, '--build-arg', `NODE=localhost/${node}`],
      ...(embeddedPostgres ? ['--build-arg', 'EMBEDDED_POSTGRES=1'] : []),
      ...['--secret', `id=npmrc,src=${secret}`],
      ...['--volume', `${await run('npm', ['config', 'get', 'cache'])}:/var/cache/npm`],
      context,
    );
    const container = await this.#buildah('from', '--arch', architecture, tag);
    const root = await this.#buildah('mount', container);
    const [{ size }] = JSON.parse(await this.#buildah('images', '--json', tag));
    const { config, architecture: built } = JSON.parse(
      await this.#buildah('inspect', container),
    ).Docker;
    return new Image(this.#folder, {
      root,
      architecture: built,
      size,
      user: config.User,
      environment: config.Env,
      labels: config.Labels,
      entrypoint: config.Entrypoint,
      command: config.Cmd,
      health: config.Healthcheck.Test.slice(1),
    });
  }
}

/** A built image. */
export class Image {
  readonly config: ImageConfig;
  readonly #folder: string;

  constructor(folder: string, config: ImageConfig) {
    this.config = config;
    this.#folder = folder;
  }

  /** Starts a command as a container runtime does: the root read-only, without root and without capabilities. */
  start(command: readonly string[], options: ContainerOptions = {}): StartedContainer {
    const { user = this.config.user, environment = {}, mounts = [] } = options;
    const [userId, groupId] = user.split(':');
    const root = join(this.#folder, 'mounted');
    const script = [
      'set -eu',
      `mkdir -p ${root}`,
      `mount --bind ${this.config.root} ${root}`,
      `mount -t tmpfs -o mode=1777 tmpfs ${root}/tmp`,
      `mount --rbind /dev ${root}/dev`,
      `mount -t tmpfs -o mode=1777 tmpfs ${root}/dev/shm`,
      `mount -t proc proc ${root}/proc`,
      ...mounts.map(({ source, target }) => {
        const place = `${root}${target}`;
        const create = `if [ -d ${source} ]; then mkdir -p ${place}; else mkdir -p ${dirname(place)}; touch ${place}; fi`;
        return `${create}; mount --bind ${source} ${place}`;
      }),
      `mount -o remount,bind,ro ${root}`,
      // The shell of chroot has root's groups and capabilities only until setpriv drops them.
      `exec chroot ${root} setpriv --reuid ${userId} --regid ${groupId} --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs "$@"`,
    ].join('\n');
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
    const inside = ['env', '-i', ...this.config.environment, ...variables, ...command];
    const child = spawn('unshare', ['--mount', 'sh', '-c', script, 'sh', ...inside], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
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
    options: ContainerOptions = {},
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
