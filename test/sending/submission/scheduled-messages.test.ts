import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { test } from 'node:test';
import { saveAccount } from '../../../src/accounts/account/account-store.ts';
import type { ComparableAddress } from '../../../src/base/values/email-address.ts';
import type { MessageId } from '../../../src/base/values/ids.ts';
import { createLog } from '../../../src/base/values/log.ts';
import { ensureMessagePartitions } from '../../../src/content/message/message-partitions-store.ts';
import { addSuppressions } from '../../../src/content/suppression/suppression-store.ts';
import {
  deleteOldScheduled,
  sweepAttachments,
} from '../../../src/outcomes/retention/delete-old-store.ts';
import { dropOldPartitions } from '../../../src/outcomes/retention/drop-partitions-store.ts';
import { erasePerson } from '../../../src/outcomes/retention/person-data-store.ts';
import {
  applyRetentionRules,
  saveRetentionRule,
} from '../../../src/outcomes/retention/retention-store.ts';
import { QueueControlStore } from '../../../src/sending/queue/control-store.ts';
import { ScheduleStore } from '../../../src/sending/queue/schedule-store.ts';
import { addKey } from '../../support/api-key.ts';
import { FeedbackShop } from '../../support/feedback-shop.ts';
import { readInbox } from '../../support/inbox-client.ts';
import { bodyWith, SendClient } from '../../support/send-client.ts';
import type { TextResponse } from '../../support/send-request.ts';
import { addSender, publishShopTemplate } from '../../support/shop.ts';
import { waitFor } from '../../support/wait-for.ts';

// The clock only moves forward: the service measures its own waiting times with it.
const world = await FeedbackShop.open();
const { database, clock, service, shop } = world;
const { kysely, pool } = database;
// API keys outlive the days that the tests skip.
const client = new SendClient(service, await addKey(database, shop.id));
const log = createLog('silent');
const minute = 60_000;
const day = 24 * 60 * minute;

const ahead = (ms: number): string => new Date(clock.now() + ms).toISOString();

let count = 0;
function newAddress(): string {
  count += 1;
  return `person${count}@people.test`;
}

type Groups = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Accepts a message to a new address. */
async function accept(
  actions: Readonly<Record<string, unknown>>,
  groups: Groups = {},
  template?: string,
) {
  const to = newAddress();
  const id = await client.accept({
    ...(template === undefined ? {} : { template }),
    body: bodyWith({ ...groups, envelope: { toAddress: to, ...groups.envelope }, actions }),
  });
  return { id, to };
}

async function mailTo(address: string) {
  const [mail] = await readInbox(service.url, `?to=${encodeURIComponent(address)}&wait=30`);
  assert.ok(mail, `no mail to ${address}`);
  return mail;
}

const countMails = async (address: string): Promise<number> =>
  (await readInbox(service.url, `?to=${encodeURIComponent(address)}`)).length;

const waitForState = (id: string, state: string) =>
  waitFor(`${id} ${state}`, async () => (await world.state(id)) === state);

const waitForReason = (id: string, pattern: RegExp) =>
  waitFor(`${id} ${pattern}`, async () => {
    const { rows } = await pool.query('select reason from queued_delivery where message_id = $1', [
      id,
    ]);
    return pattern.test(String(rows[0]?.reason));
  });

const reasonOf = (response: TextResponse): unknown => response.body.details;

test('limits of the times are checked over HTTP, with a token and a key, and name the field', async () => {
  for (const caller of [world.client, client]) {
    const send = (actions: Record<string, unknown>) =>
      caller.send({ body: bodyWith({ envelope: { toAddress: newAddress() }, actions }) });
    for (const good of [
      { sendAt: ahead(-4.9 * minute) },
      { sendAt: ahead(365 * day) },
      { sendAt: '', deliverBefore: '', templateVersion: '' },
      { sendAt: ahead(day), deliverBefore: ahead(day + 1_000), templateVersion: 'due' },
      { deliverBefore: ahead(minute), templateVersion: 'accepted' },
    ])
      assert.equal((await send(good)).status, 200, JSON.stringify(good));
    for (const [bad, field] of [
      [{ sendAt: ahead(-5 * minute - 1) }, 'actions.sendAt'],
      [{ sendAt: ahead(365 * day + minute) }, 'actions.sendAt'],
      [{ sendAt: 'tomorrow' }, 'actions.sendAt'],
      [{ sendAt: 5 }, 'actions.sendAt'],
      [{ sendAt: null }, 'actions.sendAt'],
      [{ deliverBefore: ahead(-1) }, 'actions.deliverBefore'],
      [{ sendAt: ahead(day), deliverBefore: ahead(day - 1_000) }, 'actions.deliverBefore'],
      [{ templateVersion: 'newest' }, 'actions.templateVersion'],
      [{ sendat: ahead(day) }, 'actions.sendat'],
    ] as const) {
      const response = await send(bad);
      assert.equal(response.status, 400, JSON.stringify(bad));
      assert.equal(response.body.message, 'Validation Failed for emailDetails object');
      const details = reasonOf(response) as { field: string }[];
      assert.deepEqual([...new Set(details.map((detail) => detail.field))], [field]);
    }
  }
});

test('a scheduled message is queued with its time, waits for it, and is dated with it', async () => {
  const sendAt = ahead(10 * day);
  const { id, to } = await accept({ sendAt });
  const { body } = await client.status(id);
  assert.equal(body.state, 'queued');
  assert.deepEqual(body.nextAttempt, { at: sendAt, reason: 'scheduled', paused: null });
  await clock.advance(10 * day - minute);
  const marker = await accept({});
  await mailTo(marker.to);
  assert.equal(await countMails(to), 0);
  await clock.advance(2 * minute);
  const mail = await mailTo(to);
  assert.equal(
    Date.parse(mail.headers.date?.[0] ?? ''),
    Math.floor(Date.parse(sendAt) / 1_000) * 1_000,
  );
  await waitForState(id, 'delivered');
});

test('a message with an idempotency key is scheduled once', async () => {
  const body = bodyWith({ envelope: { toAddress: newAddress() }, actions: { sendAt: ahead(day) } });
  const headers = { 'idempotency-key': 'scheduled-once' };
  const first = await client.send({ body, headers });
  const again = await client.send({ body, headers });
  assert.equal(first.body.messageId, again.body.messageId);
  const { rowCount } = await pool.query('select from scheduled_message where message_id = $1', [
    first.body.messageId,
  ]);
  assert.equal(rowCount, 1);
});

test('erasing a person cancels their scheduled messages', async () => {
  const { id, to } = await accept({ sendAt: ahead(200 * day) });
  await erasePerson(kysely, {
    accountId: shop.id,
    address: to as ComparableAddress,
    requestedBy: 'officer',
    hashKey: createSecretKey(Buffer.alloc(32, 1)),
    keepSuppressions: false,
  });
  await waitForState(id, 'canceled');
  assert.equal(await isKeptFromNow(id), true);
});

/** Whether a message's retention counts from now, not from its send time. */
async function isKeptFromNow(id: string): Promise<boolean> {
  const { rows } = await pool.query(
    `select send_at <= now() and keep_until <= now() + interval '400 days' as now from scheduled_message
     where message_id = $1`,
    [id],
  );
  return rows[0].now;
}

test('a scheduled message that is canceled is kept as long as one that was sent then', async () => {
  const sendAt = ahead(300 * day);
  const [queued, listed, waiting] = [
    await accept({ sendAt }),
    await accept({ sendAt }),
    await accept({ sendAt }),
  ];
  await new QueueControlStore(database).control('cancel', {
    accountId: shop.id,
    messageId: queued.id as MessageId,
  });
  await new ScheduleStore(database).cancel({
    accountId: shop.id,
    messageId: listed.id as MessageId,
  });
  for (const { id } of [queued, listed]) {
    await waitForState(id, 'canceled');
    assert.equal(await isKeptFromNow(id), true);
  }
  assert.equal(await isKeptFromNow(waiting.id), false);
});

test('headers of a request have the same order after the message was moved', async () => {
  const headers = { 'X-Second-Longer': '2', 'X-First': '1', 'X-Third': '3' };
  const stays = await accept({}, { content: { headers } });
  const moves = await accept({ sendAt: ahead(2 * day) }, { content: { headers } });
  await new ScheduleStore(database).move(
    { accountId: shop.id, messageId: moves.id as MessageId },
    new Date(ahead(day)),
  );
  await clock.advance(day + minute);
  const order = ({ source }: { readonly source: string }) =>
    [...source.matchAll(/^X-(?:First|Second-Longer|Third)(?=:)/gm)].map(([name]) => name);
  const sent = order(await mailTo(stays.to));
  assert.equal(sent.length, 3);
  assert.deepEqual(order(await mailTo(moves.to)), sent);
});

test('an address that is suppressed in the meantime isn’t sent to, and neither are its copies', async () => {
  const cc = newAddress();
  const { id, to } = await accept({ sendAt: ahead(day) }, { envelope: { ccAddressList: [cc] } });
  await addSuppressions(kysely, shop.id, [
    { address: to as ComparableAddress, reason: 'complaint' },
  ]);
  await clock.advance(day + minute);
  await waitForState(id, 'suppressed');
  const [canceled] = await world.waitForEvents(id, 'canceled');
  assert.equal(canceled?.recipient, 1);
  assert.equal((await countMails(to)) + (await countMails(cc)), 0);
});

test('what the first recipient of a message got decides for those who get it later, whoever is suppressed since', async () => {
  const early = newAddress();
  const late = 'late@paused.test';
  const { id } = await accept(
    { sendAt: ahead(day) },
    { envelope: { toAddress: 'bounce@simulator.test', ccAddressList: [early, late] } },
  );
  const destination = { accountId: shop.id, destination: 'paused.test' };
  await new QueueControlStore(database).control('pause', destination);
  await clock.advance(day + minute);
  const first = await mailTo(early);
  await waitForReason(id, /destination is paused/);
  await waitForState(id, 'bounced');
  await addSuppressions(
    kysely,
    shop.id,
    [early, 'bounce@simulator.test'].map((address) => ({
      address: address as ComparableAddress,
      reason: 'hard_bounce',
    })),
  );
  await new QueueControlStore(database).control('resume', destination);
  const second = await mailTo(late);
  assert.deepEqual(second.headers, first.headers);
  assert.match(String(second.headers.cc), new RegExp(`${early}.*${late}`));
});

test('a Cc address that is suppressed in the meantime is left out, also of the header', async () => {
  const gone = newAddress();
  const stays = newAddress();
  const { id, to } = await accept(
    { sendAt: ahead(day) },
    { envelope: { ccAddressList: [gone, stays] } },
  );
  await addSuppressions(kysely, shop.id, [
    { address: gone as ComparableAddress, reason: 'hard_bounce' },
  ]);
  await clock.advance(day + minute);
  const mail = await mailTo(to);
  assert.equal(mail.headers.cc?.[0], stays);
  assert.deepEqual(mail.envelopeTo, [to]);
  assert.deepEqual((await mailTo(stays)).envelopeTo, [stays]);
  const body = await waitFor('all outcomes', async () => {
    const status = (await client.status(id)).body;
    const states = (status.recipients as { state: string }[]).map(({ state }) => state);
    return states.join() === 'delivered,suppressed,delivered' && status;
  });
  assert.deepEqual(body.suppressedRecipients, [gone]);
});

test('a sender that isn’t verified any more holds the message up, with the reason', async () => {
  await addSender(database, shop.id, 'soon@shop.test');
  const { id, to } = await accept(
    { sendAt: ahead(day) },
    { envelope: { fromAddress: 'soon@shop.test' } },
  );
  await addSender(database, shop.id, 'soon@shop.test', { verified: false });
  await clock.advance(day + minute);
  await waitForReason(id, /soon@shop.test isn’t a verified sender any more/);
  await addSender(database, shop.id, 'soon@shop.test', { verified: true });
  await clock.advance(10 * minute);
  await mailTo(to);
});

test('a suspended account’s scheduled messages wait for the end of the suspension', async () => {
  const { id, to } = await accept({ sendAt: ahead(day) });
  await pool.query('update account set suspended_at = now()');
  await clock.advance(day + minute);
  await waitFor('the suspension', async () => {
    const { rows } = await pool.query(
      'select due_at <= now() as due from queued_delivery where message_id = $1',
      [id],
    );
    return rows[0].due === true;
  });
  assert.equal(await countMails(to), 0);
  await pool.query('update account set suspended_at = null');
  await mailTo(to);
});

/** Publishes a version that requires one field, and waits until the service uses it. */
async function publish(template: string, word: string, field: string): Promise<number> {
  const version = await publishShopTemplate(database, shop, {
    id: template,
    sender: 'orders@shop.test',
    source: { subject: `${word} {{${field}}}`, previewText: '', html: '<p>Hello</p>', fields: {} },
  });
  await waitFor('the version', async () => {
    const body = bodyWith({ content: { personalizationDataMap: {} } });
    const { text } = await client.send({ template, body });
    return text.includes(`personalizationDataMap.${field}"`);
  });
  return version;
}

test('the accepted template version is used by default, and the due one if asked for', async () => {
  await publish('t-due', 'First', 'A');
  const groups = { content: { personalizationDataMap: { A: 'a', C: 'c' } } };
  const accepted = await accept({ sendAt: ahead(day) }, groups, 't-due');
  const due = await accept({ sendAt: ahead(day), templateVersion: 'due' }, groups, 't-due');
  const version = await publish('t-due', 'Second', 'C');
  await clock.advance(day + minute);
  assert.equal((await mailTo(accepted.to)).subject, 'First a');
  assert.equal((await mailTo(due.to)).subject, 'Second c');
  await waitForState(due.id, 'delivered');
  assert.equal((await client.status(due.id)).body.templateVersion, version);
});

test('where the due version lacks values, the accepted one is used and an event says so', async () => {
  const version = await publish('t-lacks', 'Third', 'A');
  const { id, to } = await accept(
    { sendAt: ahead(day), templateVersion: 'due' },
    { content: { personalizationDataMap: { A: 'a' } } },
    't-lacks',
  );
  const due = await publish('t-lacks', 'Fourth', 'B');
  await clock.advance(day + minute);
  assert.equal((await mailTo(to)).subject, 'Third a');
  const [event] = await world.waitForEvents(id, 'version-kept');
  assert.equal(event?.detail.reason, `version ${due} lacks values for: B`);
  assert.equal((await client.status(id)).body.templateVersion, version);
});

test('what can’t be handed over before its deadline ends as expired, also if it was never tried', async () => {
  await pool.query(
    "insert into delivery_pause (account_id, destination, paused_at) values ($1, '*', now())",
    [shop.id],
  );
  const now = await accept({ deliverBefore: ahead(2 * minute) });
  const later = await accept({ sendAt: ahead(day), deliverBefore: ahead(day + minute) });
  const without = await accept({});
  await clock.advance(day + 2 * minute);
  await pool.query('delete from delivery_pause');
  await waitForState(now.id, 'expired');
  await waitForState(later.id, 'expired');
  await mailTo(without.to);
  assert.equal((await countMails(now.to)) + (await countMails(later.to)), 0);
});

test('the freshness window counts from the send time', async () => {
  const { id } = await accept({ sendAt: ahead(day), deliveryWhenDelayed: 'FALSE' });
  const past = await accept({ sendAt: ahead(-4 * minute), deliveryWhenDelayed: 'FALSE' });
  const { rows } = await pool.query(
    `select extract(epoch from q.expires_at - now())::int as seconds from queued_delivery q where message_id = $1`,
    [id],
  );
  assert.ok(Math.abs(rows[0].seconds - 86_400 - 900) < 60, String(rows[0].seconds));
  await mailTo(past.to);
});

test('a message scheduled 365 days ahead in a 30-day class survives retention, and is kept 30 days from its send time', async () => {
  await saveAccount(kysely, {
    id: shop.id,
    name: 'Shop',
    addOns: new Set(['transactional']),
    suspended: false,
    retentionDays: 30,
    quota: undefined,
  });
  await waitFor('the class', async () => {
    const { id } = await accept({});
    const { rows } = await pool.query('select retention_days from message where id = $1', [id]);
    return rows[0].retention_days === 30;
  });
  await saveRetentionRule(kysely, shop.id, { contentDays: 3, addressDays: 5, engagementDays: 3 });
  const runUpkeep = async (): Promise<void> => {
    await applyRetentionRules(kysely);
    await deleteOldScheduled(kysely);
    await dropOldPartitions(database, log);
    await sweepAttachments(kysely);
    await ensureMessagePartitions({ database, log });
  };
  const stored = async (id: string) => {
    const { rows } = await pool.query(
      `select (select content ->> 'to' from message where id = $1) as to,
         (select count(*)::int from message where id = $1) as messages,
         (select count(*)::int from queued_delivery where message_id = $1) as queued,
         (select count(*)::int from message_event where message_id = $1) as events,
         (select count(*)::int from message_search where message_id = $1) as searched,
         (select count(*)::int from message_attribute where message_id = $1) as attributed,
         (select count(*)::int from message_attachment where message_id = $1) as attached,
         (select count(*)::int from scheduled_message where message_id = $1) as scheduled`,
      [id],
    );
    return rows[0];
  };
  const attachment = { filename: 'note.txt', contentType: 'text/plain', content: 'QSBub3Rl' };
  const countContents = async () =>
    (await pool.query('select from attachment_content')).rowCount ?? 0;
  const plain = await accept({});
  await mailTo(plain.to);
  const paused = await accept({ sendAt: ahead(day) });
  await new QueueControlStore(database).control('pause', {
    accountId: shop.id,
    messageId: paused.id as MessageId,
  });
  const { id, to } = await accept(
    { sendAt: ahead(365 * day) },
    {
      content: { attachments: [attachment] },
      metadata: { attributes: { order: 'A-1001' } },
    },
  );
  await waitFor('the search rows', async () => {
    const { searched, attributed } = await stored(id);
    // The attribute, and the subject's words, which are found the same way.
    return searched === 1 && attributed === 3;
  });
  for (const days of [31, 100, 233]) {
    await clock.advance(days * day);
    await runUpkeep();
    assert.equal((await stored(id)).to, to);
    assert.equal(await countContents(), 1);
  }
  assert.equal((await stored(plain.id)).messages, 0);
  assert.equal((await stored(paused.id)).queued, 0);
  assert.equal(await countMails(to), 0);
  await clock.advance(day + minute);
  const mail = await mailTo(to);
  assert.match(mail.html ?? '', /A-1001/);
  assert.ok(mail.source.includes(attachment.content));
  await waitForState(id, 'delivered');
  await clock.advance(4 * day);
  await runUpkeep();
  // The rule's days count from the send time, too.
  assert.equal((await stored(id)).to, to);
  const { rows } = await pool.query(
    "select content ->> 'values' as values from message where id = $1",
    [id],
  );
  assert.equal(rows[0].values, '{}');
  assert.equal((await stored(id)).attached, 0);
  await clock.advance(2 * day);
  await runUpkeep();
  assert.equal((await stored(id)).to, null);
  assert.equal(await countContents(), 0);
  await clock.advance(23 * day);
  await runUpkeep();
  assert.equal((await stored(id)).messages, 1);
  await clock.advance(2 * day);
  await runUpkeep();
  assert.deepEqual(await stored(id), {
    to: null,
    messages: 0,
    queued: 0,
    events: 0,
    searched: 0,
    attributed: 0,
    attached: 0,
    scheduled: 0,
  });
});
