import assert from 'node:assert/strict';
import { existsSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { AuditStore } from '../../src/audit/audit-store.ts';
import { readConfig } from '../../src/config/config.ts';
import { newId } from '../../src/foundation/ids.ts';
import { type OpenedLog, openLog } from '../../src/foundation/log-output/open-log.ts';
import { OtlpCollector } from '../../test/support/otlp-collector.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { bodyWith, SendClient } from '../../test/support/send-client.ts';
import { getToken, openShop } from '../../test/support/shop.ts';
import {
  type SyslogServer,
  startDatagramServer,
  startStreamServer,
} from '../../test/support/syslog-server.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const folder = temporaryFolder();
const { database, url: databaseUrl } = await createTestDatabase();
const shop = await openShop(database);

type Line = Record<string, unknown>;

function linesOf(file: string): Line[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  assert.equal(lines.pop(), '', 'the last line is complete');
  return lines.map((line) => JSON.parse(line) as Line);
}

function openTestLog(environment: Record<string, string>) {
  const { logLevel, logOutputs } = readConfig(environment);
  return openLog(logLevel, logOutputs);
}

test('after a rotation, lines go to a new file of the same name, and none is lost', async () => {
  const file = join(folder, 'rotated.log');
  const { log, close } = await openTestLog({ LOG_FILE: file });
  log.info({ n: 1 }, 'before');
  const old = statSync(file).ino;
  renameSync(file, `${file}.1`);
  log.info({ n: 2 }, 'during');
  await waitFor('the new file', () => existsSync(file) && statSync(file).ino !== old);
  log.info({ n: 3 }, 'after');
  await close();
  assert.deepEqual(
    [...linesOf(`${file}.1`), ...linesOf(file)].map(({ n }) => n),
    [1, 2, 3],
  );
  assert.equal(linesOf(file).length, 1);
  assert.equal(statSync(file).mode & 0o777, 0o640);
});

test('processes that share a file write whole lines', async () => {
  const file = join(folder, 'shared.log');
  const service = runSignalpost(['serve', '--processes', '2'], {
    DATA_DIR: join(folder, 'data'),
    DATABASE_URL: databaseUrl,
    SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
    PORT: '0',
    LOG_FILE: file,
    LOG_ACCESS: '1',
  });
  const [, url = ''] = await service.printed(/running at (http:\/\/\S+)/);
  await Promise.all(
    Array.from({ length: 200 }, () => fetch(`${url}/healthz`).then((response) => response.text())),
  );
  service.child.kill('SIGTERM');
  assert.equal(await service.exit, 0);
  assert.equal(service.output.stderr, '');
  assert.equal(linesOf(file).filter(({ route }) => route === '/healthz').length, 200);
});

test('a full disk loses lines and nothing else, which standard error says once', async () => {
  const service = runSignalpost(['serve', '--processes', '1'], {
    DATA_DIR: join(folder, 'data'),
    DATABASE_URL: databaseUrl,
    SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
    PORT: '0',
    LOG_FILE: '/dev/full',
    LOG_ACCESS: '1',
  });
  const [, url = ''] = await service.printed(/running at (http:\/\/\S+)/);
  for (let n = 0; n < 5; n += 1) assert.equal((await fetch(`${url}/readyz`)).status, 200);
  service.child.kill('SIGTERM');
  assert.equal(await service.exit, 0);
  assert.equal(service.output.stderr, 'signalpost: can’t write /dev/full (ENOSPC)\n');
});

test('a file that can’t be written is named at the start', async () => {
  const service = runSignalpost(['start'], {
    DATA_DIR: join(folder, 'unused'),
    LOG_FILE: join(folder, 'missing', 'x.log'),
  });
  assert.equal(await service.exit, 1);
  assert.match(service.output.stderr, /LOG_FILE names .*x\.log, which can’t be written \(ENOENT\)/);
});

test('syslog over UDP gets each line as a message of RFC 5424', async () => {
  const server = await startDatagramServer();
  const { log, close } = await openTestLog({
    LOG_SYSLOG: server.url,
    LOG_FILE: join(folder, 'udp.log'),
  });
  log.warn({ secret: 'hidden', n: 1 }, 'a warning');
  log.child({ log: 'access' }).info('request');
  log.error({ err: new Error('broken'), text: 'x'.repeat(20_000) }, 'an error');
  await waitFor('three messages', () => server.messages.length === 3);
  await close();
  const [warning, access, error] = server.messages;
  assert.deepEqual([warning?.facility, warning?.severity, warning?.msgId], [2, 4, '-']);
  assert.equal(warning?.appName, 'signalpost');
  assert.equal(warning?.procId, String(process.pid));
  const line = JSON.parse(String(warning?.text)) as Line;
  assert.equal(line.time, warning?.timestamp);
  assert.deepEqual([line.msg, line.n, line.secret], ['a warning', 1, undefined]);
  assert.deepEqual([access?.severity, access?.msgId], [6, 'access']);
  assert.equal(error?.severity, 3);
});

test('syslog over TCP gets the lines from before it listened and after it was away', async () => {
  const first = await startStreamServer(0);
  const port = Number(first.url.split(':').at(-1));
  await first.close();
  const { log, close } = await openTestLog({
    LOG_SYSLOG: `tcp://127.0.0.1:${port}`,
    LOG_FILE: join(folder, 'tcp.log'),
  });
  log.info({ n: 1 }, 'nobody listens yet');
  const second = await startStreamServer(port);
  await waitFor('the first line', () => second.messages.length === 1);
  log.info({ n: 2, text: 'several\nlines' }, 'connected');
  await waitFor('the second line', () => second.messages.length === 2);
  assert.deepEqual(
    second.messages.map(({ text }) => (JSON.parse(text) as Line).n),
    [1, 2],
  );
  log.info({ n: 3 }, 'before the end');
  await close();
  await waitFor('the last line', () => second.messages.length === 3);
});

/** Writes far more than may wait. */
function flood(log: OpenedLog['log']): number {
  const lines = 5_000;
  for (let n = 0; n < lines; n += 1) log.info({ text: 'x'.repeat(2_000) }, 'one of many');
  return lines;
}

/** Counts the lines that came through and those that were reported as lost, until they add up. */
async function countLines({ messages }: SyslogServer, written: number): Promise<number> {
  const parsed = (): Line[] => messages.map(({ text }) => JSON.parse(text) as Line);
  const lost = (): number => parsed().reduce((sum, line) => sum + Number(line.lost ?? 0), 0);
  const received = (): number => parsed().filter((line) => line.lost === undefined).length;
  await waitFor('every line to be received or reported', () => received() + lost() === written);
  assert.ok(lost() > 0);
  return received();
}

test('of the lines for a syslog server that is away, 1 MiB waits and the loss of others is reported', async () => {
  const file = join(folder, 'away.log');
  const first = await startStreamServer(0);
  const port = Number(first.url.split(':').at(-1));
  await first.close();
  const { log, close } = await openTestLog({
    LOG_SYSLOG: `tcp://127.0.0.1:${port}`,
    LOG_FILE: file,
  });
  const written = flood(log);
  const server = await startStreamServer(port);
  await waitFor('the connection', () => server.messages.length > 0);
  log.info('the last one');
  const received = await countLines(server, written + 1);
  assert.ok(received * 2_000 < 1024 * 1024, `${received} lines`);
  await close();
  assert.equal(linesOf(file).length, written + 1);
});

test('a syslog server that stops reading delays nothing, and the loss of lines is reported', async () => {
  const server = await startStreamServer(0);
  const file = join(folder, 'slow.log');
  const { log, close } = await openTestLog({ LOG_SYSLOG: server.url, LOG_FILE: file });
  log.info('first');
  await waitFor('the connection', () => server.messages.length === 1);
  server.pause();
  let written = 1;
  // Buffers of the operating system take the first ones.
  for (let round = 0; round < 5; round += 1) {
    written += flood(log);
    await new Promise((resolve) => setImmediate(resolve));
  }
  server.resume();
  await waitFor('the rest of what waited', () => server.messages.length > 1);
  await waitFor('room for more', () => {
    log.info('another one');
    written += 1;
    return server.messages.some(({ text }) => text.includes('"lost":'));
  });
  await countLines(server, written);
  await close();
  assert.equal(linesOf(file).length, written);
});

test('syslog over a Unix socket', async () => {
  const server = await startStreamServer(join(folder, 'log.sock'));
  const { log, close } = await openTestLog({
    LOG_SYSLOG: server.url,
    LOG_FILE: join(folder, 'unix.log'),
  });
  log.info('over a socket');
  await waitFor('the message', () => server.messages.length === 1);
  await close();
});

test('lines of a traced request and of its message have the trace, and are exported with it', async () => {
  const collector = await OtlpCollector.open();
  const file = join(folder, 'traced.log');
  const service = await startTestService({
    databaseUrl,
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_LOGS_EXPORTER: 'otlp',
      LOG_LEVEL: 'info',
      LOG_FILE: file,
      LOG_ACCESS: '1',
      LOG_AUDIT: '1',
      LOG_MESSAGES: '1',
    },
  });
  const client = new SendClient(service, await getToken(service, shop));
  const traceId = '33333333333333333333333333333333';
  const response = await client.send({
    headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
    body: bodyWith({ envelope: { toAddress: 'LogMarker@people.test' } }),
  });
  const { messageId } = response.body;
  const delivered = ({ log, kind, messageId: id }: Line): boolean =>
    log === 'message' && kind === 'delivered' && id === messageId;
  await waitFor('the last event', () => linesOf(file).some(delivered));
  await fetch(`${service.url}/c/SECRET-OF-PATH?to=SECRET-OF-QUERY`);
  const isGrant = ({ log, kind }: Line): boolean => log === 'audit' && kind === 'password_grant';
  // Lines of each kind come in order, but not lines of different kinds.
  const lines = await waitFor('the second request and the grant', () => {
    const found = linesOf(file);
    return found.some(({ route }) => route === '/c/:token') && found.some(isGrant) && found;
  });

  const requestId = response.headers.get('x-request-id');
  const access = lines.find((line) => line.requestId === requestId);
  const { time: _, level: __, durationMs, bytes, span_id, ...others } = access ?? {};
  assert.deepEqual(others, {
    log: 'access',
    requestId,
    method: 'POST',
    route: '/ete/v1/email/:accountId/:templateId',
    accountId: shop.id,
    status: 200,
    client: '127.0.0.1',
    trace_id: traceId,
    msg: 'request',
  });
  assert.equal(bytes, Buffer.byteLength(response.text));
  assert.ok(Number(durationMs) > 0);

  const granted = lines.find(isGrant);
  assert.deepEqual(
    [granted?.outcome, granted?.personId, granted?.accountId, granted?.client, granted?.msg],
    ['success', shop.owner.id, shop.id, '127.0.0.1', 'audit event'],
  );
  const events = lines.filter(({ log, messageId: id }) => log === 'message' && id === messageId);
  assert.deepEqual(
    events.map(({ kind, domain, replyCode, trace_id }) => [kind, domain, replyCode, trace_id]),
    [
      ['accepted', 'people.test', undefined, traceId],
      ['delivered', 'people.test', 250, traceId],
    ],
  );
  assert.doesNotMatch(readFileSync(file, 'utf8'), /LogMarker|SECRET-OF/i);

  await service.stop();
  const exported = collector.logs.find(({ attributes }) => attributes.requestId === requestId);
  assert.equal(exported?.body, 'request');
  assert.equal(exported?.severityText, 'info');
  assert.equal(exported?.severityNumber, 'SEVERITY_NUMBER_INFO');
  assert.equal(exported?.traceId, traceId);
  assert.equal(exported?.spanId, span_id);
  assert.ok(collector.spans.some((span) => span.spanId === span_id));
  assert.equal(exported?.attributes.status, 200);
  assert.equal(exported?.resource['service.name'], 'signalpost');
  assert.equal(exported?.timeUnixNano.slice(0, 13), String(Date.parse(String(access?.time))));
  assert.equal(collector.logs.length, linesOf(file).length);
});

test('addresses are in the lines of messages only if the setting says so, and each line is written once', async () => {
  const files = [join(folder, 'node1.log'), join(folder, 'node2.log')];
  const nodes = await Promise.all(
    files.map((file) =>
      startTestService({
        databaseUrl,
        environment: { LOG_FILE: file, LOG_MESSAGES: 'addresses', LOG_AUDIT: '1' },
      }),
    ),
  );
  const [node] = nodes;
  assert.ok(node);
  const client = new SendClient(node, await getToken(node, shop));
  const responses = await Promise.all(
    [1, 2, 3, 4].map((n) =>
      client.send({ body: bodyWith({ envelope: { toAddress: `known${n}@people.test` } }) }),
    ),
  );
  const ids = responses.map(({ body }) => body.messageId);
  const linesOfMessages = (): Line[] =>
    files.flatMap(linesOf).filter(({ messageId }) => ids.includes(messageId));
  await waitFor('all events', () => linesOfMessages().length >= 8);
  for (const service of nodes) await service.stop();
  const lines = linesOfMessages();
  assert.equal(lines.length, 8);
  assert.deepEqual(
    [...new Set(lines.map(({ address }) => address))].sort(),
    [1, 2, 3, 4].map((n) => `known${n}@people.test`),
  );
  const audited = files.flatMap(linesOf).filter(({ log }) => log === 'audit');
  assert.equal(new Set(audited.map(({ requestId }) => requestId)).size, audited.length);
});

test('what a command does is in the audit lines of the service, and what is rolled back is not', async () => {
  const file = join(folder, 'commands.log');
  const service = await startTestService({
    databaseUrl,
    environment: { LOG_FILE: file, LOG_AUDIT: '1' },
    roles: ['worker'],
  });
  await assert.rejects(
    database.kysely.transaction().execute(async (transaction) => {
      const origin = { remoteAddress: '127.0.0.1', requestId: newId() };
      const event = { kind: 'rolled_back', outcome: 'success', origin } as const;
      await new AuditStore({ kysely: transaction }).record(event);
      throw new Error('undone');
    }),
    /undone/,
  );
  const command = runSignalpost(
    ['key', 'create', shop.id, '--name', 'logs', '--scope', 'webhooks:read'],
    {
      DATA_DIR: join(folder, 'data'),
      DATABASE_URL: databaseUrl,
      SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
    },
  );
  assert.equal(await command.exit, 0, command.output.stderr);
  await waitFor('the line of the command', () =>
    linesOf(file).some(
      ({ kind, accountId }) => String(kind).includes('key') && accountId === shop.id,
    ),
  );
  await service.stop();
  assert.ok(linesOf(file).every(({ kind }) => kind !== 'rolled_back'));
  assert.ok(!readFileSync(file, 'utf8').includes(command.output.stdout.trim()));
});
