import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ComparableAddress } from '../../../src/base/values/email-address.ts';
import { createLog } from '../../../src/base/values/log.ts';
import { minIdAt } from '../../../src/base/values/uuid7.ts';
import { maxTestMessages } from '../../../src/content/message/test-class.ts';
import { addSuppressions } from '../../../src/content/suppression/suppression-store.ts';
import { deleteOldData } from '../../../src/outcomes/retention/delete-old-data.ts';
import { trimTestMessages } from '../../../src/outcomes/retention/delete-old-store.ts';
import { addKey } from '../../support/api-key.ts';
import { startSink } from '../../support/mail-sink.ts';
import { ManagementClient } from '../../support/management-client.ts';
import { bodyWith, SendClient } from '../../support/send-client.ts';
import { sendRequest, type TextResponse } from '../../support/send-request.ts';
import { publishShopTemplate, saveShop } from '../../support/shop.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import { submissionEnvironment, templateMail } from '../../support/submission-shop.ts';
import { openTestShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';
import { WebhookReceiver } from '../../support/webhook-receiver.ts';

// As in production: live mail leaves the service.
const relay = await startSink();
const receiver = await WebhookReceiver.open();
const { environment } = await submissionEnvironment();
const world = await openTestShop({
  environment: {
    ...environment,
    DELIVERY: 'relay',
    SMTP_URL: `smtp://127.0.0.1:${relay.port}?tls=off`,
    DELIVERY_ALLOW: 'people.test,example.test',
    PUBLIC_URL: 'https://mail.shop.test',
    WEBHOOK_NETWORKS: '127.0.0.0/8',
  },
});
const { database, service, shop, owner, path } = world;
const { pool } = database;
const testKey = await addKey(database, shop.id, { mode: 'test' });
const liveKey = await addKey(database, shop.id);
const tests = new SendClient(service, testKey, shop.id);
const live = new SendClient(service, liveKey, shop.id);
const management = new ManagementClient(service, liveKey);
const testManagement = new ManagementClient(service, testKey);

let count = 0;
function newAddress(): string {
  count += 1;
  return `person${count}@people.test`;
}

type Groups = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** From an address that nobody has verified, to a new one. */
function body(to: string, groups: Groups = {}) {
  return bodyWith({
    ...groups,
    envelope: {
      toAddress: to,
      fromAddress: 'anyone@elsewhere.test',
      fromDisplayName: 'Any One',
      ...groups.envelope,
    },
  });
}

interface Captured {
  readonly id: string;
  readonly subject: string;
  readonly envelopeFrom: string;
  readonly envelopeTo: readonly string[];
  readonly from: string;
}

async function inbox(search = ''): Promise<readonly Captured[]> {
  const {
    status,
    body: page,
    text,
  } = await management.get(`${path}/inbox/messages?search=${encodeURIComponent(search)}&limit=100`);
  assert.equal(status, 200, text);
  return page.items as Captured[];
}

/** Waits until a test message to an address is in the inbox, and asserts that the relay never got it. */
async function captured(to: string): Promise<Captured> {
  const [mail] = await waitFor(`mail to ${to}`, async () => {
    const found = await inbox(to);
    return found.length > 0 && found;
  });
  assert.ok(mail);
  assert.ok(!relay.mails.some((sent) => sent.to.includes(to)), to);
  return mail;
}

function relayed(to: string) {
  return waitFor(`mail to ${to} at the relay`, () =>
    relay.mails.find((mail) => mail.to.includes(to)),
  );
}

function delivered(client: SendClient, id: unknown): Promise<TextResponse['body']> {
  return waitFor(`the delivery of ${id}`, async () => {
    const { body: status } = await client.status(id);
    return status.state === 'delivered' && status;
  });
}

async function countRows(table: string, where = 'true'): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int as count from ${table} where ${where}`,
  );
  return rows[0]?.count ?? 0;
}

const post = (address: string, key: string, json: unknown) =>
  sendRequest(`${service.url}${address}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(json),
  });

const refusedAs = async (sent: Promise<TextResponse>) => (await sent).body.errorName;

test('a test message needs no verified sender and goes to the account’s inbox only; a live key beside it is as before', async () => {
  const to = newAddress();
  const id = await tests.accept({ body: body(to) });
  const mail = await captured(to);
  assert.equal(mail.envelopeFrom, 'anyone@elsewhere.test');
  assert.equal(mail.from, 'Any One <anyone@elsewhere.test>');
  assert.equal(mail.subject, 'Your order A-1001');
  assert.equal((await delivered(tests, id)).test, true);

  assert.equal(await refusedAs(live.send({ body: body(to) })), 'SENDER_NOT_ALLOWED');
  const other = newAddress();
  const liveId = await live.accept({ body: bodyWith({ envelope: { toAddress: other } }) });
  await relayed(other);
  assert.equal((await delivered(live, liveId)).test, false);
  assert.deepEqual(await inbox(other), []);
});

test('everything else is checked as with a live key', async () => {
  const to = newAddress();
  const noValues = body(to, { content: { personalizationDataMap: {} } });
  assert.equal(await refusedAs(tests.send({ body: noValues })), 'PERSONALIZATION_FAILURE');
  const noAddress = body(to, { envelope: { fromAddress: 'not an address' } });
  assert.equal(await refusedAs(tests.send({ body: noAddress })), 'VALIDATION_FAILED');
  assert.equal(await refusedAs(tests.send({ template: 'none', body: body(to) })), 'INVALID_ID');
  const other = await saveShop(database, { id: '46101' });
  assert.equal(await refusedAs(tests.send({ account: other })), 'INVALID_ID');
});

test('without a From address, a test message is from whom a live one would be from', async () => {
  const to = newAddress();
  await tests.accept({ body: bodyWith({ envelope: { toAddress: to } }) });
  assert.equal((await captured(to)).from, 'Demo Shop <orders@shop.test>');
});

test('a test message isn’t signed, so nobody can send it on as the account’s', async () => {
  const added = await owner.put(`${path}/domains/shop.test`, {});
  assert.ok(added.status < 300, added.text);
  await pool.query("update dkim_key set state = 'active'");
  const [one, two] = [newAddress(), newAddress()];
  await live.accept({ body: bodyWith({ envelope: { toAddress: one } }) });
  assert.match((await relayed(one)).source, /^DKIM-Signature:/im);
  await tests.accept({ body: bodyWith({ envelope: { toAddress: two } }) });
  const { id } = await captured(two);
  const { body: mail } = await management.get(`${path}/inbox/messages/${id}`);
  assert.match(String(mail.source), /^From: Demo Shop <orders@shop\.test>\r$/m);
  assert.doesNotMatch(String(mail.source), /^DKIM-Signature:/im);
});

test('a batch, mail without a template, and SMTP submission with a test key send test messages', async () => {
  const [batched, written, templated, raw] = [
    newAddress(),
    newAddress(),
    newAddress(),
    newAddress(),
  ];
  const batch = await post(`/ete/v1/email/${shop.id}/t-0001/batch`, testKey, {
    messages: [body(batched)],
  });
  assert.equal(batch.status, 200, batch.text);
  const content = await post(`/ete/v1/email/${shop.id}`, testKey, {
    envelope: { toAddress: written, fromAddress: 'anyone@elsewhere.test' },
    content: { subjectLine: 'Hello', text: 'Hello' },
  });
  assert.equal(content.status, 200, content.text);
  const { tlsPort = 0 } = service.app.submissionPorts();
  const smtp = await SmtpClient.open({ port: tlsPort, tls: true });
  await smtp.greet();
  assert.match(await smtp.login(shop.id, testKey), /^235/);
  assert.match(
    await smtp.submit([templated], templateMail(undefined, { From: 'anyone@elsewhere.test' })),
    /^250/,
  );
  const source = `From: anyone@elsewhere.test\r\nTo: ${raw}\r\nSubject: Raw\r\nReply-To: other@elsewhere.test\r\n\r\nHello\r\n`;
  assert.match(await smtp.submit([raw], source), /^250/);
  for (const to of [batched, written, templated, raw]) await captured(to);
});

test('a scheduled test message is sent at its time, without looking at senders and suppressions', async () => {
  const to = newAddress();
  const sendAt = new Date(Date.now() + 1_500).toISOString();
  const id = await tests.accept({ body: body(to, { actions: { sendAt } }) });
  assert.equal(await countRows('scheduled_message', `message_id = '${id}'`), 1);
  await suppress(to);
  await captured(to);
  assert.equal((await delivered(tests, id)).test, true);
});

async function suppress(address: string): Promise<void> {
  await addSuppressions(database.kysely, shop.id, [
    { address: address as ComparableAddress, reason: 'hard_bounce' },
  ]);
}

test('suppressions are neither asked nor changed', async () => {
  const suppressed = newAddress();
  await suppress(suppressed);
  const before = await countRows('suppression');
  await tests.accept({ body: body(suppressed) });
  await captured(suppressed);
  const toSuppressed = bodyWith({ envelope: { toAddress: suppressed } });
  assert.equal(await refusedAs(live.send({ body: toSuppressed })), 'RECIPIENT_SUPPRESSED');

  await publishShopTemplate(database, shop, {
    id: 'news',
    sender: 'orders@shop.test',
    source: {
      html: '<p><a href="{{Unsubscribe Link}}">no more</a></p>',
      subject: 'News',
      previewText: '',
      fields: {},
    },
  });
  const to = newAddress();
  const news = { template: 'news', body: body(to, { metadata: { transactional: false } }) };
  const id = await tests.accept(news);
  const { id: mailId } = await captured(to);
  const { body: mail } = await management.get(`${path}/inbox/messages/${mailId}`);
  const link = /href="https:\/\/mail\.shop\.test(\/u\/[^"]*)"/.exec(String(mail.html))?.[1];
  for (let time = 0; time < 2; time += 1) {
    const answer = await sendRequest(`${service.url}${link}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click',
    });
    assert.equal(answer.status, 200, answer.text);
  }
  assert.equal(
    await countRows('message_event', `message_id = '${id}' and kind = 'unsubscribed'`),
    1,
  );
  await passedBy('suppression', id);
  assert.equal(await countRows('suppression'), before);
  // Nor does its page undo what a live message led to.
  await pool.query(
    "insert into suppression (account_id, address, reason) values ($1, $2, 'unsubscribe')",
    [shop.id, to],
  );
  await sendRequest(`${service.url}${link}/undo`, { method: 'POST' });
  assert.equal(await countRows('suppression', `address = '${to}'`), 1);
});

/** Waits until a follower has read a message and its events. */
async function passedBy(follower: string, messageId: string): Promise<void> {
  await waitFor(`${follower} to pass`, async () => {
    const { rows } = await pool.query<{ passed: boolean }>(
      `select (select min(tx) from feed_cursor where follower = $2) > greatest(
         (select max(tx) from message where id = $1), (select max(tx) from message_event where message_id = $1)) as passed`,
      [messageId, follower],
    );
    return rows[0]?.passed;
  });
}

test('the simulator’s addresses work', async () => {
  const before = await countRows('suppression');
  const outcomes = {
    delivered: 'delivered',
    bounce: 'bounced',
    complaint: 'complained',
    defer: 'deferred',
  };
  for (const [name, kind] of Object.entries(outcomes)) {
    const id = await tests.accept({ body: body(`${name}+x@simulator.test`) });
    await waitFor(kind, () =>
      countRows('message_event', `message_id = '${id}' and kind = '${kind}'`),
    );
    await passedBy('suppression', id);
  }
  assert.equal(
    await refusedAs(tests.send({ body: body('suppressed@simulator.test') })),
    'RECIPIENT_SUPPRESSED',
  );
  assert.equal(await countRows('suppression'), before);
  assert.deepEqual(await inbox('simulator.test'), []);
});

test('no quota counts test messages, and a used one doesn’t refuse them', async () => {
  const quota = { perHour: 1, perDay: undefined };
  await saveShop(database, { id: shop.id, quota });
  const used = () => countRows('account_quota_use', 'hour_used > 0');
  await waitFor('the quota', async () => {
    const id = await tests.accept({ body: body(newAddress()) });
    assert.ok(id);
    const [one, two] = [await live.send(), await live.send()];
    return one.status === 429 || two.status === 429;
  });
  assert.equal(await used(), 1);
  const rows = async () => (await pool.query('select * from account_quota_use')).rows;
  const before = await rows();
  for (let time = 0; time < 3; time += 1) await tests.accept({ body: body(newAddress()) });
  assert.deepEqual(await rows(), before);
  await saveShop(database, { id: shop.id });
  await waitFor('the end of the quota', async () => (await live.send()).status === 200);
});

test('no report, sum, metric or record of template usage counts test messages', async () => {
  const to = newAddress();
  await passedBy('report', await live.accept());
  const before = await reported();
  const metrics = async () =>
    (await service.app.http.inject('/metrics')).body
      .split('\n')
      .filter(
        (line) =>
          line.startsWith('signalpost_delivery_outcomes_total') && line.includes('"delivered"'),
      );
  await passedBy(
    'template-calls',
    await live.accept({ body: bodyWith({ envelope: { toAddress: to } }) }),
  );
  await relayed(to);
  const id = await tests.accept({
    body: body(newAddress(), {
      content: { personalizationDataMap: { 'Order Number': '1', Invented: '2' } },
      metadata: { tagList: ['only-tests'] },
    }),
  });
  await delivered(tests, id);
  const bounced = await tests.accept({ body: body('bounce@simulator.test') });
  for (const follower of ['report', 'template-calls', 'search'])
    for (const message of [id, bounced]) await passedBy(follower, message);
  assert.equal((await reported()) - before, 1);
  assert.equal(await countRows('report_total', "tag = 'only-tests'"), 0);
  assert.equal(await countRows('report_sum', "key = 'only-tests'"), 0);
  assert.equal(await countRows('report_destination', "destination_domain = 'simulator.test'"), 0);
  assert.equal(await countRows('template_call', "'Invented' = any (fields)"), 0);
  assert.ok(!(await metrics()).some((line) => line.includes('inbox')));
});

async function reported(): Promise<number> {
  const { rows } = await pool.query<{ accepted: number }>(
    'select sum(accepted)::int as accepted from report_total',
  );
  return rows[0]?.accepted ?? 0;
}

test('the message list and search show test messages as such, and filter by mode', async () => {
  const to = newAddress();
  const testId = await tests.accept({ body: body(to) });
  const liveId = await live.accept({ body: bodyWith({ envelope: { toAddress: to } }) });
  await passedBy('search', liveId);
  await passedBy('search', testId);
  const found = async (query: string) => {
    const { body: page } = await management.get(`${path}/messages?${query}`);
    const items = page.items as { readonly id: string; readonly test: boolean }[];
    return items
      .filter(({ id }) => id === testId || id === liveId)
      .map(({ id, test: is }) => [id, is]);
  };
  assert.deepEqual(await found(`recipient=${to}`), [
    [liveId, false],
    [testId, true],
  ]);
  assert.deepEqual(await found(`search=${to}`), [
    [liveId, false],
    [testId, true],
  ]);
  for (const filter of ['', `&recipient=${to}`, `&search=${to}`]) {
    assert.deepEqual(await found(`mode=test${filter}`), [[testId, true]]);
    assert.deepEqual(await found(`mode=live${filter}`), [[liveId, false]]);
  }
  const { body: message } = await management.get(`${path}/messages/${testId}`);
  assert.equal(message.test, true);
});

test('webhooks and the event feed mark events of test messages', async () => {
  const kinds = ['accepted', 'delivered'];
  const created = await owner.post(`${path}/webhooks`, { url: receiver.url, kinds });
  assert.equal(created.status, 201, created.text);
  const testId = await tests.accept({ body: body(newAddress()) });
  const liveId = await live.accept();
  const marksOf = (id: string) =>
    waitFor(`webhooks of ${id}`, () => {
      const own = receiver.received.filter(({ body: { data } }) => data.messageId === id);
      return own.length === 2 && own.map(({ body: { data } }) => data.test);
    });
  assert.deepEqual(await marksOf(testId), [true, true]);
  assert.deepEqual(await marksOf(liveId), [undefined, undefined]);
  const { body: feed } = await management.get(`${path}/events?limit=1000`);
  const own = (feed.items as { readonly data: Readonly<Record<string, unknown>> }[]).filter(
    ({ data }) => data.messageId === testId,
  );
  assert.deepEqual(
    own.map(({ data }) => data.test),
    own.map(() => true),
  );
  assert.ok(own.length >= 2);
});

test('resending: with a test key or of a test message, a test message; otherwise a live one', async () => {
  const [one, two] = [newAddress(), newAddress()];
  const testId = await tests.accept({ body: body(one) });
  const liveId = await live.accept({ body: bodyWith({ envelope: { toAddress: two } }) });
  await captured(one);
  await relayed(two);
  const resend = async (client: ManagementClient, id: string) => {
    const { status, body: answer, text } = await client.post(`${path}/messages/${id}/resend`);
    assert.equal(status, 201, text);
    return delivered(live, answer.messageId);
  };
  assert.equal((await resend(owner, testId)).test, true);
  assert.equal((await resend(testManagement, liveId)).test, true);
  assert.equal((await resend(owner, liveId)).test, false);
  assert.equal(relay.mails.filter((mail) => mail.to.includes(one)).length, 0);
  assert.equal(relay.mails.filter((mail) => mail.to.includes(two)).length, 2);
});

test('the test send of a template with a test key sends a test message, that of a person a live one', async () => {
  const [one, two] = [newAddress(), newAddress()];
  for (const [client, to] of [
    [testManagement, one],
    [owner, two],
  ] as const) {
    const { status, text } = await client.post(`${path}/templates/t-0001/test-send`, { to });
    assert.equal(status, 202, text);
  }
  await captured(one);
  await relayed(two);
});

test('an idempotency key stands for one live and one test message', async () => {
  const headers = { 'idempotency-key': 'order-1' };
  const testId = await tests.accept({ headers });
  const liveId = await live.accept({ headers });
  assert.notEqual(testId, liveId);
  assert.equal(await tests.accept({ headers }), testId);
  assert.equal(await live.accept({ headers }), liveId);
});

test('a test key has a recognizable form, keeps its mode when rotated, and the audit log has it', async () => {
  const scopes = ['messages:send'];
  const create = (more: object) => owner.post(`${path}/keys`, { name: 'CI', scopes, ...more });
  const created = await create({ mode: 'test' });
  assert.equal(created.status, 201, created.text);
  assert.match(
    String(created.body.key),
    new RegExp(`^sp_${shop.id}_test[0-9A-Za-z]{39}_[0-9A-Za-z]{6}$`),
  );
  const rotated = await owner.post(`${path}/keys/${created.body.id}/rotate`, {});
  assert.match(String(rotated.body.key), /_test/);
  const plain = await create({});
  const { body: keys } = await owner.get(`${path}/keys`);
  const modes = new Map(
    (keys.items as { readonly id: string; readonly mode: string }[]).map(({ id, mode }) => [
      id,
      mode,
    ]),
  );
  assert.equal(modes.get(String(created.body.id)), 'test');
  assert.equal(modes.get(String(rotated.body.id)), 'test');
  assert.equal(modes.get(String(plain.body.id)), 'live');
  assert.equal((await create({ mode: 'other' })).status, 422);
  const { rows } = await pool.query<{ mode: string }>(
    "select detail ->> 'mode' as mode from audit_event where kind = 'api_key_created' order by at",
  );
  assert.deepEqual(
    rows.map(({ mode }) => mode),
    ['test', 'test', 'live'],
  );
  const client = new SendClient(service, String(rotated.body.key), shop.id);
  const to = newAddress();
  await client.accept({ body: body(to) });
  await captured(to);
});

test('while a process of an earlier release may run, no test key can be created', async () => {
  await pool.query('alter table message_7 rename to hidden');
  const key = { name: 'CI', scopes: ['messages:send'], mode: 'test' };
  const { status, text } = await owner.post(`${path}/keys`, key);
  await pool.query('alter table hidden rename to message_7');
  assert.equal(status, 422, text);
  assert.match(text, /earlier release/);
});

test('test messages are kept for 7 days, with their copies in the inbox', async () => {
  const log = createLog('silent');
  const [kept, old] = [newAddress(), newAddress()];
  const [keptId, oldId] = [
    await tests.accept({ body: body(kept) }),
    await tests.accept({ body: body(old) }),
  ];
  for (const [to, id] of [
    [kept, keptId],
    [old, oldId],
  ] as const) {
    await captured(to);
    await delivered(tests, id);
    await passedBy('search', id);
  }
  /** Makes a message, and its copy in the inbox, so many days old. */
  const age = async (id: string, to: string, days: number): Promise<string> => {
    const agedId = minIdAt(new Date(Date.now() - days * 86_400_000));
    await pool.query(
      "update message set id = $2, accepted_at = now() - $3 * interval '1 day' where id = $1",
      [id, agedId, days],
    );
    for (const table of ['message_event', 'message_search'])
      await pool.query(`update ${table} set message_id = $2 where message_id = $1`, [id, agedId]);
    await pool.query(
      "update inbox_message set received_at = now() - $2 * interval '1 day' where envelope_to = $1",
      [[to], days],
    );
    return agedId;
  };
  const [aged, expired] = [await age(keptId, kept, 6.9), await age(oldId, old, 7.1)];
  const sendAt = new Date(Date.now() + 3_600_000).toISOString();
  const scheduled = await tests.accept({ body: body(newAddress(), { actions: { sendAt } }) });
  const isDue = `message_id = '${scheduled}' and keep_until = send_at + interval '7 days'`;
  assert.equal(await countRows('scheduled_message', isDue), 1);
  await deleteOldData(database, log);
  assert.equal((await tests.status(scheduled)).status, 200);
  await pool.query("update scheduled_message set keep_until = now() - interval '1 second'");
  await deleteOldData(database, log);
  assert.equal((await tests.status(aged)).status, 200);
  assert.equal((await inbox(kept)).length, 1);
  assert.deepEqual(await inbox(old), []);
  for (const id of [expired, scheduled]) {
    assert.equal((await tests.status(id)).status, 400);
    for (const table of ['message_event', 'message_search', 'queued_delivery'])
      assert.equal(await countRows(table, `message_id = '${id}'`), 0, table);
  }
});

test('the attachments and complete messages of an account’s test messages have a limit of bytes, too', async () => {
  const other = await saveShop(database, { id: '46103' });
  const key = await addKey(database, other, { mode: 'test' });
  const accept = async (to: string): Promise<string> => {
    const {
      status,
      body: answer,
      text,
    } = await post(`/ete/v1/email/${other}`, key, {
      envelope: { toAddress: to, fromAddress: 'anyone@elsewhere.test' },
      content: { subjectLine: 'Hello', text: 'Hello' },
    });
    assert.equal(status, 200, text);
    return String(answer.messageId);
  };
  const ids = [await accept(newAddress()), await accept(newAddress())];
  const trim = (bytes: number) =>
    trimTestMessages(database.kysely, other, { messages: 1_000, bytes });
  assert.deepEqual(await trim(1_000_000), { found: 0, deleted: 0 });
  // Not before every follower has read it.
  await waitFor('the older one to go', async () => (await trim(1)).deleted === 1);
  assert.deepEqual(await trim(1), { found: 0, deleted: 0 });
  const { rows } = await pool.query('select id from message where account_id = $1', [other]);
  assert.deepEqual(rows, [{ id: ids[1] }]);
});

test('an inbox keeps the newest copies of each account', async () => {
  const other = (await saveShop(database, { id: '46102' })) as typeof shop.id;
  const add = (account: string, isTest: boolean) =>
    pool.query(
      `insert into inbox_message (id, account_id, received_at, envelope_from, envelope_to, subject, headers, test, source)
       select gen_random_uuid(), $1, now() - n * interval '1 second', '', '{}', 'old', '[]', $2, 'x'
       from generate_series(1, 1100) n`,
      [account, isTest],
    );
  await add(shop.id, true);
  await add(shop.id, false);
  await add(other, true);
  const to = newAddress();
  await tests.accept({ body: body(to) });
  await captured(to);
  await waitFor(
    'the oldest copies to go',
    async () =>
      (await countRows('inbox_message', `account_id = '${shop.id}' and test`)) === maxTestMessages,
  );
  assert.equal(await countRows('inbox_message', `account_id = '${shop.id}' and not test`), 1_100);
  assert.equal(await countRows('inbox_message', `account_id = '${other}'`), 1_100);
});

test('an account keeps 1,000 test messages; the oldest go, live ones never', async () => {
  const sendAt = new Date(Date.now() + 86_400_000).toISOString();
  const first = await tests.accept({ body: body(newAddress(), { actions: { sendAt } }) });
  const liveId = await live.accept();
  const messages = Array.from({ length: 100 }, () => body('delivered@simulator.test'));
  for (let sent = 0; sent <= maxTestMessages; sent += messages.length) {
    const answer = await post(`/ete/v1/email/${shop.id}/t-0001/batch`, testKey, { messages });
    assert.equal(answer.status, 200, answer.text);
  }
  const own = `account_id = '${shop.id}' and retention_days in (7, 10007)`;
  await waitFor(
    'the oldest to go',
    async () => (await countRows('message', own)) === maxTestMessages,
  );
  assert.equal((await tests.status(first)).status, 400);
  for (const table of ['queued_delivery', 'scheduled_message'])
    assert.equal(await countRows(table, `message_id = '${first}'`), 0, table);
  assert.equal((await live.status(liveId)).status, 200);
});
