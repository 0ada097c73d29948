import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { sweepAttachments } from '../../src/outcomes/retention/delete-old-store.ts';
import { defaultWorkerOptions } from '../../src/sending/queue/worker.ts';
import { addKey } from '../../test/support/api-key.ts';
import { startSink } from '../../test/support/mail-sink.ts';
import { readSentMail } from '../../test/support/read-mail.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { bodyWith, SendClient } from '../../test/support/send-client.ts';
import { sendRequest, type TextResponse } from '../../test/support/send-request.ts';
import { serviceTokens } from '../../test/support/service-tokens.ts';
import { openShop } from '../../test/support/shop.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { waitForLock } from '../../test/support/wait-for-lock.ts';

const { database, url: databaseUrl } = await createTestDatabase();
const { pool, kysely } = database;
const shop = await openShop(database);
const key = await addKey(database, shop.id);
const sink = await startSink();
const environment = {
  DATABASE_URL: databaseUrl,
  PORT: '0',
  LOG_LEVEL: 'error',
  SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
  SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=off`,
  ...serviceTokens,
};

interface Node {
  readonly url: string;
  readonly client: SendClient;
  kill(): Promise<void>;
}

const inFile = AsyncLocalStorage.snapshot();
let running: Promise<Node> | undefined;

/** The service in one process of its own, which runs until a test kills it, also after the end of the test that started it. */
function start(): Promise<Node> {
  running ??= inFile(startNode);
  return running;
}

async function startNode(): Promise<Node> {
  const service = runSignalpost(['serve', '--processes', '1'], environment);
  const [, url = ''] = await service.printed(/running at (http:\/\/\S+)/);
  const kill = async (): Promise<void> => {
    running = undefined;
    service.child.kill('SIGKILL');
    await service.exit;
  };
  return { url, client: new SendClient({ url }, key), kill };
}

let count = 0;

function makeBody(
  actions: Readonly<Record<string, unknown>>,
  more: { readonly content?: Buffer; readonly tag?: string } = {},
) {
  count += 1;
  const attachment = more.content && {
    filename: 'data.bin',
    contentType: 'application/octet-stream',
    content: more.content.toString('base64'),
  };
  return bodyWith({
    envelope: { toAddress: `person${count}@people.test` },
    content: { attachments: attachment && [attachment] },
    metadata: { tagList: more.tag === undefined ? [] : [more.tag] },
    actions: { trackOpens: false, trackClicks: false, ...actions },
  });
}

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toISOString();
const addressOf = (body: Record<string, unknown>): string =>
  (body.envelope as { toAddress: string }).toAddress;
const mailsTo = (address: string) => sink.mails.filter(({ to }) => to.includes(address));
const hashOf = (content: Buffer) => createHash('sha256').update(content).digest();
const isStored = async (content: Buffer): Promise<boolean> => {
  const { rowCount } = await pool.query('select from attachment_content where sha256 = $1', [
    hashOf(content),
  ]);
  return rowCount === 1;
};

test('a schedule survives kill -9 between its 200 and its due time, and is sent once, not early, with its attachment', async () => {
  const first = await start();
  const content = randomBytes(50_000);
  const sendAt = inSeconds(6);
  const body = makeBody({ sendAt }, { content });
  const response = await first.client.send({ body });
  await first.kill();
  assert.equal(response.status, 200, response.text);
  await start();
  const [mail] = await waitFor('the mail', () => {
    const mails = mailsTo(addressOf(body));
    return mails.length > 0 && mails;
  });
  assert.ok(Date.now() >= Date.parse(sendAt) - 50);
  const { files } = readSentMail(mail?.source ?? '');
  assert.ok(files[0]?.content.equals(content));
  await waitFor('the delivery', async () => {
    const { rows } = await pool.query('select state from message where id = $1', [
      response.body.messageId,
    ]);
    return rows[0]?.state === 'delivered';
  });
  assert.equal(mailsTo(addressOf(body)).length, 1);
});

/** Schedules as many messages as two statements move or cancel. */
async function scheduleMany(node: Node, tag: string): Promise<readonly string[]> {
  const messages = Array.from({ length: 700 }, () =>
    makeBody({ sendAt: inSeconds(3_600) }, { tag }),
  );
  const response = await sendRequest(`${node.url}/ete/v1/email/${shop.id}/t-0001/batch`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages }),
  });
  const results = response.body.results as { status: number; messageId: string }[];
  assert.ok(results.every(({ status }) => status === 200));
  return results.map(({ messageId }) => messageId);
}

function change(
  node: Node,
  action: 'move' | 'cancel',
  body: Record<string, unknown>,
): Promise<TextResponse> {
  const url = `${node.url}/manage/v1/accounts/${shop.id}/scheduled-messages/${action}`;
  return sendRequest(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Kills the service in its second statement, which waits for a message that the test has locked. */
async function killInSecondStatement(
  node: Node,
  tag: string,
  action: 'move' | 'cancel',
  body: Record<string, unknown>,
): Promise<void> {
  const blocker = await pool.connect();
  try {
    await blocker.query('begin');
    await blocker.query(
      `select from queued_delivery where message_id = (
         select message_id from scheduled_message where tag = $1 order by send_at desc, message_id desc limit 1)
       for update`,
      [tag],
    );
    const changing = change(node, action, body).catch(() => undefined);
    await waitForLock(database);
    await node.kill();
    assert.equal(await changing, undefined);
  } finally {
    await blocker.query('rollback');
    blocker.release();
  }
  await waitFor('the statement to end', async () => {
    const { rowCount } = await pool.query(
      `select from pg_stat_activity where datname = current_database() and application_name <> ''
         and state <> 'idle' and pid <> pg_backend_pid() and query like '%scheduled_message%'`,
    );
    return rowCount === 0;
  });
}

test('a move that kill -9 interrupts leaves each message at one of both times, and can be repeated', async () => {
  const tag = 'moved';
  const first = await start();
  await scheduleMany(first, tag);
  const sendAt = inSeconds(7_200);
  await killInSecondStatement(first, tag, 'move', { tag, sendAt });
  const read = async () => {
    const { rows } = await pool.query<{ moved: boolean; count: number; consistent: boolean }>(
      `select s.send_at = $2 as moved, count(*)::int as count, bool_and(q.due_at = s.send_at
         and (m.content ->> 'sendAt')::timestamptz = date_trunc('milliseconds', s.send_at)
         and s.waiting and not q.canceled and (select count(*) from message_event e
           where e.message_id = m.id and e.kind = 'move-asked') = (s.send_at = $2)::int) as consistent
       from scheduled_message s join queued_delivery q on q.message_id = s.message_id
       join message m on m.id = s.message_id where s.tag = $1 group by 1 order by 1`,
      [tag, sendAt],
    );
    return rows;
  };
  assert.deepEqual(await read(), [
    { moved: false, count: 200, consistent: true },
    { moved: true, count: 500, consistent: true },
  ]);
  const second = await start();
  const response = await change(second, 'move', { tag, sendAt });
  assert.deepEqual(response.body, { changed: 200, skipped: 0 });
  assert.deepEqual(await read(), [{ moved: true, count: 700, consistent: true }]);
});

test('a cancellation that kill -9 interrupts cancels or keeps each message, and can be repeated', async () => {
  const tag = 'canceled';
  const first = await start();
  const ids = await scheduleMany(first, tag);
  await killInSecondStatement(first, tag, 'cancel', { tag });
  const statesOf = async () => {
    const { rows } = await pool.query<{ state: string; count: number }>(
      'select state, count(*)::int as count from message where id = any ($1) group by 1 order by 1',
      [ids],
    );
    return rows;
  };
  const second = await start();
  // The worker of the killed process may have claimed some of them, and its leases last.
  const leases = 2 * defaultWorkerOptions.leaseMs;
  await waitFor('the cancellations', async () => (await statesOf())[0]?.count === 500, leases);
  assert.deepEqual((await statesOf())[0]?.state, 'canceled');
  assert.deepEqual((await change(second, 'cancel', { tag })).body, { changed: 200, skipped: 0 });
  await waitFor('the others', async () => (await statesOf())[0]?.count === 700);
  const { rowCount } = await pool.query(
    'select from queued_delivery where message_id = any ($1::uuid[])',
    [ids],
  );
  assert.equal(rowCount, 0);
  assert.deepEqual(
    sink.mails.filter(({ source }) => ids.some((id) => source.includes(id))),
    [],
  );
});

/** Kills the service after it has stored a content, while its message waits to be stored. */
async function killBeforeMessage(content: Buffer, endsStatement: boolean): Promise<string> {
  const node = await start();
  const body = makeBody({}, { content });
  const blocker = await pool.connect();
  try {
    await blocker.query('begin');
    await blocker.query('lock table message in share row exclusive mode');
    const sending = node.client.send({ body }).catch(() => undefined);
    await waitFor('the content', () => isStored(content));
    await waitForLock(database);
    await node.kill();
    assert.equal(await sending, undefined);
    if (endsStatement)
      await pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'signalpost accept'`,
      );
  } finally {
    await blocker.query('rollback');
    blocker.release();
  }
  return addressOf(body);
}

test('kill -9 between a content and its message: what no message uses is swept after the restart', async () => {
  const content = randomBytes(20_000);
  const to = await killBeforeMessage(content, true);
  await pool.query(`update attachment_content set check_at = now() - interval '1 minute'`);
  await start();
  // The service does this every hour.
  await sweepAttachments(kysely);
  assert.equal(await isStored(content), false);
  assert.deepEqual(mailsTo(to), []);
});

test('kill -9 between a content and its message: a message that the database commits after all has its content', async () => {
  const content = randomBytes(20_000);
  const to = await killBeforeMessage(content, false);
  await waitFor('the message', async () => {
    const { rowCount } = await pool.query('select from message_attachment where sha256 = $1', [
      hashOf(content),
    ]);
    return rowCount === 1;
  });
  await pool.query(`update attachment_content set check_at = now() - interval '1 minute'`);
  await start();
  const [mail] = await waitFor('the mail', () => mailsTo(to).length > 0 && mailsTo(to));
  const { files } = readSentMail(mail?.source ?? '');
  assert.ok(files[0]?.content.equals(content));
  await sweepAttachments(kysely);
  assert.equal(await isStored(content), true);
});

for (const ends of ['commits', 'is killed'] as const)
  test(`a message whose content is swept at the same moment has it, whether the sweep ${ends}`, async () => {
    const node = await start();
    const content = randomBytes(20_000);
    await pool.query(
      `insert into attachment_content (account_id, sha256, content, check_at)
       values ($1, $2, $3, now() - interval '1 minute')`,
      [shop.id, hashOf(content), content],
    );
    const body = makeBody({}, { content });
    let sending: Promise<TextResponse> | undefined;
    const sweeping = kysely.transaction().execute(async (transaction) => {
      assert.equal(await sweepAttachments(transaction), 1);
      sending = node.client.send({ body });
      await waitForLock(database);
      if (ends === 'is killed') throw new Error('killed');
    });
    await sweeping.catch(() => undefined);
    const response = await (sending as unknown as Promise<TextResponse>);
    assert.equal(response.status, 200, response.text);
    const [mail] = await waitFor('the mail', () => {
      const mails = mailsTo(addressOf(body));
      return mails.length > 0 && mails;
    });
    const { files } = readSentMail(mail?.source ?? '');
    assert.ok(files[0]?.content.equals(content));
  });
