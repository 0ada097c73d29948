import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { openDatabase } from '../../src/base/database/open-database.ts';
import { startSink } from '../../test/support/mail-sink.ts';
import {
  createEmptyDatabase,
  type MovedService,
  MoveScene,
  startHookReceiver,
} from '../../test/support/move-scene.ts';
import { sendRequest, type TextResponse } from '../../test/support/send-request.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const account = '1000';
const day = 86_400_000;
const scopes = ['messages', 'webhooks', 'lists', 'contacts', 'queue', 'reports'].flatMap((thing) =>
  ['read', 'write', 'send', 'control'].map((right) => `${thing}:${right}`),
);
const known =
  /^(messages:(read|send|control)|(webhooks|lists|contacts):(read|write)|queue:(read|control)|reports:read)$/;

const busy = new Set(['busy@people.test']);
const sink = await startSink({
  onRcpt: (address) => (busy.has(address) ? '451 4.3.0 Busy' : undefined),
});
const scene = new MoveScene({ SMTP_URL: `smtp://127.0.0.1:${sink.port}` });
const hooks = await startHookReceiver();
const target = await createEmptyDatabase();
const moved = { DATABASE_URL: target };
let service: MovedService = await scene.start();
const key = (
  await scene.succeed([
    ...['key', 'create', account, '--name', 'test'],
    ...scopes.filter((scope) => known.test(scope)).flatMap((scope) => ['--scope', scope]),
  ])
).trim();

async function ask(method: string, path: string, body?: object | string): Promise<TextResponse> {
  const type = typeof body === 'string' ? 'text/csv' : 'application/json';
  const response = await sendRequest(`${service.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': type }) },
    ...(body && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  assert.ok(response.status < 300, `${method} ${path}: ${response.status} ${response.text}`);
  return response;
}

const manage = (method: string, path: string, body?: object | string) =>
  ask(method, `/manage/v1/accounts/${account}${path}`, body);

/** Accepts a message. @returns its ID */
async function send(
  to: string,
  more: { actions?: object; content?: object } = {},
): Promise<string> {
  const response = await ask('POST', `/ete/v1/email/${account}/receipt`, {
    envelope: { toAddress: to },
    content: { personalizationDataMap: { 'Order Number': to, Total: '24.90' }, ...more.content },
    metadata: { transactional: true, externalId: to },
    actions: { trackOpens: false, trackClicks: false, ...more.actions },
  });
  return String(response.body.messageId);
}

const stateOf = async (id: string): Promise<unknown> =>
  (await manage('GET', `/messages/${id}`)).body.state;

/** All events of the account in their order. */
async function readEvents(): Promise<
  { type: string; data: { messageId: string; eventId: string } }[]
> {
  const events = [];
  for (let after = ''; ; ) {
    const { body } = await manage('GET', `/events?limit=100${after}`);
    events.push(
      ...(body.items as { type: string; data: { messageId: string; eventId: string } }[]),
    );
    if (body.more !== true) return events;
    after = `&after=${body.cursor}`;
  }
}

const copies = (to: string): number => sink.mails.filter((mail) => mail.to.includes(to)).length;

const sent = {
  delivered: [] as string[],
  waiting: '',
  scheduled: '',
  busy: '',
  burst: [] as string[],
};
let eventsBefore: string[] = [];
let webhook = '';

test('an installation with mail in every state is prepared and killed while its followers are behind', async () => {
  webhook = String(
    (await manage('POST', '/webhooks', { url: hooks.url, kinds: ['accepted', 'delivered'] })).body
      .id,
  );
  await manage('PUT', '/lists/readers', { name: 'Readers' });
  const run = randomUUID();
  const people = Array.from({ length: 500 }, (_, index) => `reader${index}@people.test,Ada`);
  await manage(
    'PUT',
    `/lists/readers/imports/${run}`,
    `email,First Name\r\n${people.join('\r\n')}\r\n`,
  );
  await waitFor(
    'the import',
    async () => (await manage('GET', `/lists/readers/imports/${run}`)).body.state === 'done',
  );
  sent.delivered = [await send('one@people.test'), await send('two@people.test')];
  for (const id of sent.delivered)
    await waitFor('delivery', async () => (await stateOf(id)) === 'delivered');
  await waitFor('the events of both', () => hooks.accepted.length === 4);
  sent.busy = await send('busy@people.test');
  await waitFor('a deferral', async () => (await stateOf(sent.busy)) === 'deferred');
  await waitFor('its event', () => hooks.accepted.length === 5);
  await manage('POST', `/webhooks/${webhook}/pause`);
  await scene.succeed(['queue', 'pause', account]);
  const content = Buffer.alloc(100_000, 'receipt').toString('base64');
  sent.waiting = await send('waiting@people.test', {
    content: { attachments: [{ filename: 'receipt.txt', contentType: 'text/plain', content }] },
  });
  const sendAt = new Date(Date.now() + 3_600_000).toISOString();
  sent.scheduled = await send('scheduled@people.test', { actions: { sendAt } });
  eventsBefore = await waitFor('the events', async () => {
    const events = await readEvents();
    return events.length >= 8 && events.map(({ data }) => data.eventId);
  });
  sent.burst = await Promise.all(
    Array.from({ length: 150 }, (_, index) => send(`burst${index}@people.test`)),
  );
  service.running.child.kill('SIGKILL');
  await service.running.exit;
});

test('a move copies everything into PostgreSQL, compares both and says what to do next', async () => {
  const output = await scene.succeed(['move', '--to', target]);
  assert.match(output, /^TABLE +ROWS +COPIED +CHECKSUM +OF THE COPY +RESULT$/m);
  for (const [table, rows] of [
    ['contact', 500],
    ['message', 155],
    ['attachment_content', 1],
    ['webhook_endpoint', 1],
  ] as const) {
    const [, found, copied, one, other, result] =
      new RegExp(`^${table} +(\\d+) +(\\d+) +(\\w{16}) +(\\w{16}) +(\\w+)$`, 'm').exec(output) ??
      [];
    assert.ok(Number(found) >= rows, `${table}: ${found}`);
    assert.deepEqual([copied, other, result], [found, one, 'same']);
  }
  assert.match(
    output,
    /^Moved the installation from the embedded database in .* and both are the same/m,
  );
  assert.match(output, /set DATABASE_URL to the database at localhost:\d+\/move_\w+\./);
  assert.match(output, /signalpost\.key stays in DATA_DIR/);
  assert.match(output, /Remove BACKUP_TO, and set up pg_dump/);
  const { password } = new URL(target);
  assert.ok(password.length > 0 && !output.includes(password));
});

test('the old database refuses to start, says where the installation went, and is not changed by trying', async () => {
  const started = await scene.fail(['start']);
  assert.match(
    started,
    /^signalpost: This installation was moved to localhost:\d+\/move_\w+ at 2\S+Z\. Set DATABASE_URL/,
  );
  assert.match(await scene.fail(['key', 'list', account]), /was moved to/);
  assert.match(await scene.fail(['move', '--to', target]), /already holds an installation/);
  assert.match(
    await scene.fail(['move', '--to', await createEmptyDatabase()]),
    /was moved to .*To move it from there/,
  );
});

test('the new one delivers what was queued exactly once, and followers continue without a gap', async () => {
  service = await scene.start(moved);
  // Events of the time before are in the same places.
  assert.deepEqual(
    (await readEvents()).slice(0, eventsBefore.length).map(({ data }) => data.eventId),
    eventsBefore,
  );
  assert.equal(await stateOf(sent.waiting), 'queued');
  busy.clear();
  await scene.succeed(['queue', 'resume', account], moved);
  await scene.succeed(['queue', 'retry', account], moved);
  await manage('POST', `/webhooks/${webhook}/resume`);
  for (const id of [sent.waiting, sent.busy, ...sent.burst])
    await waitFor(`delivery of ${id}`, async () => (await stateOf(id)) === 'delivered', 90_000);
  assert.equal(await stateOf(sent.scheduled), 'queued');
  const later = await send('later@people.test');
  await waitFor('delivery of a new message', async () => (await stateOf(later)) === 'delivered');

  const addresses = [
    'one',
    'two',
    'busy',
    'waiting',
    'later',
    ...sent.burst.map((_, index) => `burst${index}`),
  ];
  assert.deepEqual(
    addresses.filter((name) => copies(`${name}@people.test`) !== 1),
    [],
  );
  assert.equal(copies('scheduled@people.test'), 0);
  const attached = sink.mails.find(({ to }) => to.includes('waiting@people.test'))?.source ?? '';
  assert.ok(attached.includes(Buffer.alloc(57, 'receipt').toString('base64')));

  // Webhooks: every event once, those of a message in order.
  const all = [...sent.delivered, sent.busy, sent.waiting, ...sent.burst, later];
  // An event that the killed process had claimed is free again after 3 minutes, and found within another.
  await waitFor('all webhook events', () => hooks.accepted.length >= 2 * all.length + 1, 270_000);
  const eventIds = hooks.accepted.map(({ id }) => id);
  assert.equal(new Set(eventIds).size, eventIds.length);
  for (const id of all)
    assert.deepEqual(
      hooks.accepted.filter(({ messageId }) => messageId === id).map(({ type }) => type),
      ['message.accepted', 'message.delivered'],
    );
  // The list of events has the same.
  const events = await waitFor('the list of events', async () => {
    const found = await readEvents();
    return found.filter(({ type }) => type === 'message.delivered').length === all.length && found;
  });
  assert.equal(new Set(events.map(({ data }) => data.eventId)).size, events.length);
  assert.equal(events.filter(({ type }) => type === 'message.accepted').length, all.length + 1);
  // Search and reports.
  await waitFor(
    'search to find a message of the burst',
    async () =>
      ((await manage('GET', '/messages?externalId=burst149@people.test')).body.items as unknown[])
        .length === 1,
  );
  const [from, until] = [-day, day].map((ms) => new Date(Date.now() + ms).toISOString());
  await waitFor('reports', async () => {
    const { body } = await manage('GET', `/reports?group=none&from=${from}&until=${until}`);
    const [row] = body.rows as { counts: { accepted: number; delivered: number } }[];
    return row?.counts.accepted === all.length + 1 && row.counts.delivered === all.length;
  });
  await service.stop();
});

test('the move is in the audit log of the new database', async () => {
  const database = openDatabase({ url: target });
  const { rows } = await database.pool.query<{ kind: string }>(
    "select kind from audit_event where kind like 'installation%' order by at",
  );
  await database.close();
  assert.deepEqual(
    rows.map(({ kind }) => kind),
    ['installation_move_started', 'installation_moved'],
  );
});

test('after the move, --cancel only explains the effects of going back, and goes back with --yes', async () => {
  const explained = await scene.succeed(['move', '--cancel']);
  assert.match(explained, /was moved to .* and may have run there since/);
  assert.match(explained, /Nothing was changed/);
  assert.match(await scene.fail(['start']), /was moved to/);
  assert.match(
    await scene.succeed(['move', '--cancel', '--yes']),
    /stays in the embedded database/,
  );
  service = await scene.start();
  assert.equal(await stateOf(sent.waiting), 'queued');
  await service.stop();
  assert.equal(await scene.succeed(['move', '--cancel']), 'No move is in progress.\n');
});
