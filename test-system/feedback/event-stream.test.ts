import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AckPolicy, DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { addKey } from '../../test/support/api-key.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { SendClient } from '../../test/support/send-client.ts';
import { openShop } from '../../test/support/shop.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { NatsServer } from '../support/start-nats.ts';

const { database, url: databaseUrl } = await createTestDatabase();
const shop = await openShop(database);
const key = await addKey(database, shop.id);
const server = await NatsServer.open('--user', 'signalpost', '--pass', 'p@ss:word');
const natsUrl = `nats://signalpost:p%40ss%3Aword@127.0.0.1:${server.port}`;

interface Received {
  readonly subject: string;
  readonly body: {
    readonly accountId: string;
    readonly type: string;
    readonly data: { readonly messageId: string; readonly address: string };
  };
}

async function connected<T>(work: (connection: NatsConnection) => Promise<T>): Promise<T> {
  const connection = await connect({
    servers: `127.0.0.1:${server.port}`,
    user: 'signalpost',
    pass: 'p@ss:word',
  });
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

/** Everything that the stream has stored, in its order. */
function readStream(): Promise<Received[]> {
  return connected(async (connection) => {
    const manager = await jetstreamManager(connection);
    const name = await manager.streams.find('signalpost.events.>').catch(() => undefined);
    if (name === undefined) return [];
    const { state } = await manager.streams.info(name);
    if (state.messages === 0) return [];
    const consumer = await manager.consumers.add(name, {
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.All,
    });
    const messages = await (await jetstream(connection).consumers.get(name, consumer.name)).fetch({
      max_messages: state.messages,
    });
    const received: Received[] = [];
    for await (const message of messages) {
      received.push({ subject: message.subject, body: message.json() });
    }
    return received;
  });
}

async function publishedOf(messageId: string): Promise<Received[]> {
  return (await readStream()).filter(({ body }) => body.data.messageId === messageId);
}

function startPublishing(environment: Record<string, string> = {}) {
  return startTestService({ databaseUrl, environment: { NATS_URL: natsUrl, ...environment } });
}

async function send(service: { readonly url: string }): Promise<string> {
  const { status, body } = await new SendClient(service, key).send();
  assert.equal(status, 200);
  return body.messageId as string;
}

test('events of a message are published once, in order, on a subject of account and kind', async () => {
  const service = await startPublishing();
  const messageId = await send(service);
  await waitFor('the message to be published', async () => {
    return (await publishedOf(messageId)).length === 2;
  });
  const published = await publishedOf(messageId);
  assert.deepEqual(
    published.map(({ subject, body }) => [subject, body.type, body.accountId]),
    [
      [`signalpost.events.${shop.id}.accepted`, 'message.accepted', shop.id],
      [`signalpost.events.${shop.id}.delivered`, 'message.delivered', shop.id],
    ],
  );
  assert.match(published[1]?.body.data.address ?? '', /@/);
  await service.stop();
});

test('while the server is away, sending goes on; what happened is published when it is back', async () => {
  const service = await startPublishing();
  await server.stop();
  const messageIds = [await send(service), await send(service)];
  await waitFor('the messages to be delivered', async () => {
    const { rows } = await database.pool.query(
      "select from message where id = any ($1) and state = 'delivered'",
      [messageIds],
    );
    return rows.length === 2;
  });
  await server.start();
  for (const messageId of messageIds)
    await waitFor('the events to be published', async () => {
      return (await publishedOf(messageId)).length === 2;
    });
  await service.stop();
});

test('two nodes publish each event once, and one goes on after the other was stopped', async () => {
  const [first, second] = [await startPublishing(), await startPublishing()];
  const before = (await readStream()).length;
  const sent: string[] = [];
  for (let count = 0; count < 20; count += 1) sent.push(await send(count % 2 ? first : second));
  await first.stop();
  for (let count = 0; count < 20; count += 1) sent.push(await send(second));
  await waitFor('all events to be published', async () => {
    return (await readStream()).length >= before + 80;
  });
  await second.stop();
  const ids = (await readStream()).slice(before).map(({ body }) => body.data.messageId);
  assert.equal(ids.length, 80);
  assert.deepEqual([...new Set(ids)].sort(), sent.sort());
});

test('events that are published again after a crash appear once', async () => {
  const before = (await readStream()).length;
  // As if the process had died after the server stored the events and before the position moved.
  await database.pool.query(
    "update log_cursor set tx = (select min(tx) from message) where name = 'nats'",
  );
  const service = await startPublishing();
  const messageId = await send(service);
  await waitFor('the message to be published', async () => {
    return (await publishedOf(messageId)).length === 2;
  });
  assert.equal((await readStream()).length, before + 2);
  await service.stop();
});

async function runDoctor(url: string): Promise<string> {
  const { exit, output } = runSignalpost(['doctor'], {
    DATA_DIR: temporaryFolder(),
    DATABASE_URL: databaseUrl,
    NATS_URL: url,
  });
  await exit;
  return output.stdout + output.stderr;
}

test('doctor says whether the server takes events, without the password', async () => {
  assert.match(await runDoctor(natsUrl), /ok {3}events {4}published to NATS at 127\.0\.0\.1:\d+/);
  const refused = await runDoctor(natsUrl.replace('signalpost:', 'nobody:'));
  assert.match(refused, /FAIL events {4}the NATS server .* accepts no events: .*uthorization/);
  assert.doesNotMatch(refused, /p%40ss|p@ss/);
});
