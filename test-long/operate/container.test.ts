import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { existsSync, statfsSync } from 'node:fs';
import { chmod, chown, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startProgramPostgres } from '../../scripts/program-postgres.ts';
import { bodyWith } from '../../test/support/send-client.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import {
  ContainerBuilder,
  type Image,
  installPackage,
  type StartedContainer,
} from '../../test-system/support/container.ts';
import { freePort } from '../../test-system/support/free-port.ts';
import { packRepository } from '../../test-system/support/pack-repository.ts';

const root = join(import.meta.dirname, '../..');
const canBuild = {
  skip: process.getuid?.() === 0 ? false : 'only root can build an image without a daemon',
};
const inboxToken = 'inbox-token-of-the-container';
const userId = 10_001;

let folder = '';
let builder: ContainerBuilder | undefined;
let image: Image;

/** A folder in memory if there is room: dpkg flushes each of its files. */
function inMemory(): string {
  const memory = '/dev/shm';
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > 6 * 2 ** 30 ? memory : tmpdir();
}

before(async () => {
  if (canBuild.skip) return;
  folder = await mkdtemp(join(inMemory(), 'container-'));
  const context = join(folder, 'context');
  await mkdir(context);
  for (const name of ['Containerfile', '.containerignore'])
    await copyFile(join(root, name), join(context, name));
  const made = new ContainerBuilder(folder);
  builder = made;
  const pack = async (): Promise<void> => {
    const { file } = await packRepository(join(folder, 'repository'));
    await installPackage(file, context);
  };
  await Promise.all([pack(), made.createBase('debian')]);
  image = await made.build(context, 'debian');
});
after(async () => {
  await builder?.close();
  await rm(folder, { recursive: true, force: true });
});

/** A folder for /data with an owner. */
async function createData(name: string, uid: number): Promise<string> {
  const data = join(folder, name);
  await mkdir(data, { mode: 0o770 });
  await chown(data, uid, 0);
  return data;
}

/** Starts the service and waits until its own health check succeeds. */
async function startService(
  options: Parameters<Image['start']>[1],
  command = image.config.command,
): Promise<StartedContainer> {
  const service = image.start([...image.config.entrypoint, ...command], options);
  let ended = false;
  void service.exitCode.then(() => {
    ended = true;
  });
  after(() => service.kill('SIGKILL'));
  await waitFor(
    'the health check',
    async () => {
      assert.ok(!ended, service.output());
      return (await image.run(image.config.health, options)).code === 0;
    },
    100_000,
  );
  return service;
}

test(
  'as its own user with a read-only root, the image keeps its database in /data, sends a message and stops with SIGTERM',
  canBuild,
  async () => {
    assert.equal(image.config.user, `${userId}:0`);
    const data = await createData('data', userId);
    const port = String(await freePort());
    const environment = { PORT: port, DEMO: '0', HOST: '127.0.0.1', INBOX_TOKEN: inboxToken };
    const options = { data, environment };
    const service = await startService(options);
    const probe = await image.run(
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
    await writeFile(
      join(data, 'example.yaml'),
      JSON.stringify({
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
      }),
    );
    const applied = await image.run(['signalpost', 'apply', '/data/example.yaml'], options);
    assert.equal(applied.code, 0, applied.output);
    const created = await image.run(
      ['signalpost', 'key', 'create', '46100', '--name', 'Shop', '--scope', 'messages:send'],
      options,
    );
    assert.equal(created.code, 0, created.output);
    const key = created.printed.trim();
    const sent = await fetch(`http://127.0.0.1:${port}/ete/v1/email/46100/t-0001`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(bodyWith({})),
    });
    assert.equal(sent.status, 200, await sent.text());
    await waitFor('the message', async () => {
      const inbox = await fetch(`http://127.0.0.1:${port}/inbox/api/messages`, {
        headers: { authorization: `Bearer ${inboxToken}` },
      });
      return (await inbox.text()).includes('Order A-1001');
    });
    service.kill('SIGTERM');
    assert.equal(await service.exitCode, 0, service.output());
    assert.equal((await image.run(image.config.health, options)).code, 1);
  },
);

test('with a database elsewhere, the image runs as any user', canBuild, async () => {
  const postgres = await startProgramPostgres('/usr/lib/postgresql/15/bin');
  after(() => postgres.stop());
  const socketFolder = new URL(postgres.url).searchParams.get('host') ?? '';
  await chmod(socketFolder, 0o755);
  // As OpenShift does: a user whom neither the image nor the machine knows.
  const user = 1_000_000_000 + randomInt(1_000_000);
  const service = await startService(
    {
      data: await createData('random', user),
      user: `${user}:0`,
      environment: { PORT: String(await freePort()), DATABASE_URL: postgres.url },
      folders: [socketFolder],
    },
    ['serve', '--processes', '1'],
  );
  service.kill('SIGTERM');
  assert.equal(await service.exitCode, 0, service.output());
});
