import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { OtlpCollector } from '../../test/support/otlp-collector.ts';
import { type Running, runWithHeap } from '../../test/support/run-signalpost.ts';
import { bodyWith, SendClient } from '../../test/support/send-client.ts';
import { getToken, openShop } from '../../test/support/shop.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const { database, url: databaseUrl } = await createTestDatabase();
const shop = await openShop(database);
const folder = temporaryFolder();
const modulesFile = join(folder, 'modules');
/** Settings with which a service writes down what it loads, which takes long. */
const recording = {
  NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, '../../test/support/record-modules.ts')).href}`,
  LOADED_MODULES: modulesFile,
};

/** The modules that were loaded since the last call. */
async function takeModules(): Promise<string[]> {
  const text = await readFile(modulesFile, 'utf8');
  await rm(modulesFile);
  return text.split('\n');
}

interface Started {
  readonly service: Running;
  readonly client: SendClient;
}

/** The service gives out only a few. */
let token: string | undefined;

async function start(environment: Record<string, string>, processes = 1): Promise<Started> {
  const service = runWithHeap(400, ['serve', '--processes', String(processes)], {
    DATA_DIR: join(folder, 'data'),
    DATABASE_URL: databaseUrl,
    SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
    PORT: '0',
    LOG_LEVEL: 'warn',
    ...environment,
  });
  const [, url = ''] = await service.printed(/running at (http:\/\/\S+)/);
  token ??= await getToken({ url }, shop);
  const client = new SendClient({ url }, token);
  return { service, client };
}

/** Sends messages and waits until all of them are delivered. */
async function sendSome(client: SendClient, count: number): Promise<void> {
  const responses = await Promise.all(
    Array.from({ length: count }, () => client.send({ body: bodyWith({}) })),
  );
  assert.deepEqual([...new Set(responses.map(({ status }) => status))], [200]);
  const ids = responses.map(({ body }) => body.messageId);
  await waitFor('the deliveries', async () => {
    const { rows } = await database.pool.query(
      "select from message where id = any ($1) and state = 'delivered'",
      [ids],
    );
    return rows.length === count;
  });
}

/** Stops the service gracefully. @returns the lines of its log about telemetry */
async function stop({ service }: Started): Promise<Record<string, unknown>[]> {
  service.child.kill('SIGTERM');
  assert.equal(await service.exit, 0);
  const lines = service.output.stderr.trim().split('\n').filter(Boolean);
  const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.ok(entries.every(({ msg }) => !String(msg).startsWith('shutdown timed out')));
  return entries.filter(({ msg }) => /telemetry|traces/.test(String(msg)));
}

const failed = 'telemetry could not be exported';

test('without settings, or with traces turned off, nothing of OpenTelemetry is loaded and nothing is sent', async () => {
  const collector = await OtlpCollector.open();
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  for (const environment of [
    {},
    { ...endpoint, OTEL_TRACES_EXPORTER: 'none' },
    { ...endpoint, OTEL_SDK_DISABLED: 'true' },
  ]) {
    const started = await start({ ...environment, ...recording });
    await sendSome(started.client, 3);
    assert.deepEqual(await stop(started), []);
    const modules = await takeModules();
    assert.ok(modules.some((url) => url.endsWith('src/app.ts')));
    // prom-client requires the CommonJS form of the API by itself.
    const loaded = modules.filter((url) => !/@opentelemetry\/api\/.*\.cjs$/.test(url));
    assert.deepEqual(
      loaded.filter((url) => /opentelemetry|protobuf/i.test(url)),
      [],
    );
  }
  assert.deepEqual(collector.received, []);
  const { rows } = await database.pool.query(
    "select from message where content -> 'trace' is not null",
  );
  assert.deepEqual(rows, []);
});

for (const [fault, answer] of [
  ['answers 500', (response) => response.writeHead(500).end('no')],
  ['answers 503', (response) => response.writeHead(503, { 'retry-after': '60' }).end()],
  ['cuts connections', (response) => response.destroy()],
  ['hangs', () => undefined],
] satisfies [string, OtlpCollector['answer']][])
  test(`a collector that ${fault} neither delays mail nor the stop`, async () => {
    const collector = await OtlpCollector.open();
    collector.answer = answer;
    const started = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    await sendSome(started.client, 20);
    await waitFor('an export', () => collector.received.length > 0);
    await sendSome(started.client, 20);
    const entries = await stop(started);
    assert.ok(entries.filter(({ msg }) => msg === failed).length <= 1);
    assert.ok(entries.length > 0, 'the loss is in the log');
  });

test('a collector that is down causes one warning, and the service stops', async () => {
  const started = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  await sendSome(started.client, 5);
  const entries = await stop(started);
  assert.ok(entries.length > 0);
  assert.ok(entries.filter(({ msg }) => msg === failed).length <= 1);
});

test('a slow collector gets everything, the last spans before the service stops', async () => {
  const collector = await OtlpCollector.open();
  const responses: (() => void)[] = [];
  collector.answer = (response) => responses.push(() => response.writeHead(200).end());
  const started = await start({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
    ...recording,
  });
  await sendSome(started.client, 5);
  await waitFor('an export', () => responses.length > 0);
  await sendSome(started.client, 5);
  collector.answer = (response) => response.writeHead(200).end();
  for (const release of responses) release();
  assert.deepEqual(await stop(started), []);
  assert.equal(collector.spans.filter(({ name }) => name === 'deliver').length, 10);
  assert.ok((await takeModules()).some((url) => url.includes('@opentelemetry')));
});

test('each process of a node exports its own spans, and none is lost at the stop', async () => {
  const collector = await OtlpCollector.open();
  const started = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, 2);
  await sendSome(started.client, 20);
  assert.deepEqual(await stop(started), []);
  const named = (wanted: string) => collector.spans.filter(({ name }) => name === wanted);
  assert.equal(named('deliver').length, 20);
  const accepted = new Set(named('accept').map(({ spanId }) => spanId));
  assert.equal(accepted.size, 20);
  assert.ok(named('deliver').every(({ links }) => accepted.has(links[0]?.spanId ?? '')));
  const pids = new Set(collector.spans.map(({ resource }) => resource['process.pid']));
  const instances = new Set(collector.spans.map(({ resource }) => resource['service.instance.id']));
  assert.equal(instances.size, pids.size);
  assert.ok(!pids.has(started.service.child.pid));
});
