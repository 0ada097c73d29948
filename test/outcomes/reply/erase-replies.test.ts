import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { ComparableAddress } from '../../../src/base/values/email-address.ts';
import { newId } from '../../../src/base/values/ids.ts';
import { createLog } from '../../../src/base/values/log.ts';
import { applyReplyRetention } from '../../../src/outcomes/reply/erase-replies-store.ts';
import type { ReplyContent } from '../../../src/outcomes/reply/reply-content.ts';
import { readReply, storeReply } from '../../../src/outcomes/reply/reply-store.ts';
import { deleteOldData } from '../../../src/outcomes/retention/delete-old-data.ts';
import { sweepAttachments } from '../../../src/outcomes/retention/delete-old-store.ts';
import { erasePerson, exportPerson } from '../../../src/outcomes/retention/person-data-store.ts';
import {
  applyRetentionRules,
  saveRetentionRule,
} from '../../../src/outcomes/retention/retention-store.ts';
import { plainReply, type RepliedMessage, ReplyShop } from '../../support/reply-shop.ts';
import { waitFor } from '../../support/wait-for.ts';
import { waitForLock } from '../../support/wait-for-lock.ts';

const world = await ReplyShop.open();
const { shop } = world;
const { pool, kysely } = shop.database;
const accountId = shop.shop.id;
/** From before the first test, while the shop's token is valid. */
const { id: oldReply } = await world.reply(await world.send());
const day = 24 * 60 * 60 * 1_000;

function requestFor(address: string) {
  return {
    accountId,
    address: address as ComparableAddress,
    requestedBy: shop.shop.owner.id,
    hashKey: createSecretKey(Buffer.alloc(32, 1)),
    keepSuppressions: false,
  };
}

interface StoredRow {
  readonly sender: string | null;
  readonly erased: boolean;
  readonly linked: number;
}

async function rowOf(replyId: string): Promise<StoredRow | undefined> {
  const { rows } = await pool.query<StoredRow>(
    `select sender, content is null as erased, (
       select count(*)::int from message_attachment a
       where a.account_id = r.account_id and a.message_id = r.message_id) as linked
     from message_reply r where id = $1`,
    [replyId],
  );
  return rows[0];
}

/** The stored contents of the account, after a sweep that is due for all. */
async function contents(): Promise<number> {
  await pool.query(`update attachment_content set check_at = now() - interval '1 minute'`);
  await sweepAttachments(kysely);
  const { rows } = await pool.query<{ count: number }>(
    'select count(*)::int as count from attachment_content where account_id = $1',
    [accountId],
  );
  return rows[0]?.count ?? 0;
}

async function isRefused({ replyTo }: RepliedMessage): Promise<boolean> {
  return (await world.deliver(replyTo, plainReply())).startsWith('550 5.1.1');
}

test('erasing the recipient of a message erases the replies to it, and no more are received', async () => {
  const before = await contents();
  const message = await world.send({ to: 'ann@people.test' });
  const { id } = await world.reply(message, plainReply({}, 'erase me'));
  assert.equal(await contents(), before + 1);
  await erasePerson(kysely, requestFor('ann@people.test'));
  assert.deepEqual(await rowOf(id), { sender: null, erased: true, linked: 0 });
  assert.equal(await contents(), before);
  assert.ok(await isRefused(message));
  const response = await world.manage.get(`/accounts/${accountId}/replies/${id}`);
  assert.equal(response.body.text, null);
  assert.equal(response.body.from, null);
  const listed = await world.manage.get(`/accounts/${accountId}/replies?messageId=${message.id}`);
  const [item] = listed.body.items as { messageSubject: string | null; preview: string }[];
  assert.equal(item?.messageSubject, null);
  assert.equal(item?.preview, '');
});

test('erasing the author of a reply erases only that reply, and not what another one also has', async () => {
  const message = await world.send();
  const from = (address: string) => plainReply({ From: address }, 'the same text');
  const mine = await world.reply(message, from('Mia <Mia@customer.test>'));
  const theirs = await world.reply(message, from('tom@customer.test'));
  assert.equal((await rowOf(mine.id))?.sender, 'mia@customer.test');
  await erasePerson(kysely, requestFor('mia@customer.test'));
  assert.deepEqual(await rowOf(mine.id), { sender: null, erased: true, linked: 1 });
  assert.equal((await rowOf(theirs.id))?.erased, false);
  const { body } = await world.manage.get(`/accounts/${accountId}/replies/${theirs.id}`);
  assert.match(String(body.text), /the same text/);
});

test('the export of a person has the replies that they wrote, with their text', async () => {
  const message = await world.send();
  const source = plainReply({ From: 'zoe@customer.test' }, 'what I wrote');
  const { id } = await world.reply(message, source);
  const lines: Readonly<Record<string, unknown>>[] = [];
  for await (const line of exportPerson(kysely, requestFor('zoe@customer.test'))) lines.push(line);
  const [reply] = lines.flatMap(
    (line) => (line.reply as { id: string; texts: { text: string } }) ?? [],
  );
  assert.equal(reply?.id, id);
  assert.match(String(reply?.texts.text), /what I wrote/);
});

test('a reply that arrives while its message is erased is refused', async () => {
  const message = await world.send();
  const eraser = await pool.connect();
  await eraser.query('begin');
  await eraser.query('update message set content = null where id = $1', [message.id]);
  const delivered = world.deliver(message.replyTo, plainReply());
  await waitForLock(shop.database);
  await eraser.query('commit');
  eraser.release();
  assert.equal(await delivered, '550 5.1.1 No such address');
  assert.deepEqual(await world.rows(message.id), []);
});

test('a reply that is stored while one with the same content is erased keeps its content', async () => {
  const message = await world.send();
  const erased = await world.reply(message, plainReply({ From: 'eva@customer.test' }, 'The same'));
  const known = await readReply(kysely, accountId, erased.id);
  assert.ok(known?.content);
  const stored = {
    id: newId(),
    accountId,
    messageId: known.messageId,
    size: 100,
    automatic: false,
  };
  const fingerprint = randomBytes(32);
  const { erasing } = await kysely.transaction().execute(async (transaction) => {
    await storeReply(transaction, {
      ...stored,
      fingerprint,
      sender: 'max@customer.test',
      content: known.content as ReplyContent,
    });
    const erasing = erasePerson(kysely, requestFor('eva@customer.test'));
    await waitForLock(shop.database);
    // As a member, because the transaction can only commit if it isn't awaited here.
    return { erasing };
  });
  await erasing;
  assert.deepEqual(await rowOf(erased.id), { sender: null, erased: true, linked: 1 });
  assert.equal((await rowOf(stored.id))?.erased, false);
});

test('a retention rule erases the content of replies first, then who wrote them', async () => {
  await saveRetentionRule(kysely, accountId, {
    contentDays: 7,
    addressDays: 20,
    engagementDays: null,
  });
  const message = await world.send();
  const { id } = await world.reply(message, plainReply({ From: 'ida@customer.test' }));
  await applyRetentionRules(kysely);
  assert.equal((await rowOf(id))?.erased, false);
  await shop.clock.advance(8 * day);
  await applyRetentionRules(kysely);
  assert.deepEqual(await rowOf(id), { sender: 'ida@customer.test', erased: true, linked: 0 });
  assert.ok(await isRefused(message));
  await shop.clock.advance(13 * day);
  await applyRetentionRules(kysely);
  assert.equal((await rowOf(id))?.sender, null);
});

test('a retention rule doesn’t read the replies that it keeps', async () => {
  await pool.query(
    `insert into message_reply
       (account_id, id, message_id, retention_days, fingerprint, size, automatic, sender, content, hashes)
     select account_id, overlay(id::text placing lpad(to_hex(n), 12, '0') from 25)::uuid,
       overlay('ffffffff' || substr(id::text, 9) placing lpad(to_hex(n / 5), 12, '0') from 25)::uuid,
       retention_days, int4send(n), 1000, false, 'old@customer.test', '{}', '{}'
     from generate_series(1, 20000) as n, (select * from message_reply where id = $1) as r`,
    [oldReply],
  );
  await pool.query('analyze message_reply');
  const read = await kysely.transaction().execute(async (transaction) => {
    await applyReplyRetention(transaction, accountId);
    const { rows } = await sql<{ rows: number }>`
      select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables
      where relname = 'message_reply'`.execute(transaction);
    return rows[0]?.rows ?? 0;
  });
  assert.ok(read < 1_000, `${read} rows`);
  await pool.query(`delete from message_reply where sender = 'old@customer.test'`);
});

test('replies are deleted with their message at the end of its retention, even if an earlier step of the deletion fails', async (t) => {
  await deleteOldData(shop.database, createLog('silent'));
  assert.notEqual(await rowOf(oldReply), undefined);
  await shop.clock.advance(98 * day);
  await pool.query('alter table spent_intake_token rename to moved_away');
  t.after(() => pool.query('alter table moved_away rename to spent_intake_token'));
  await deleteOldData(shop.database, createLog('silent'));
  await waitFor('the reply to be deleted', async () => (await rowOf(oldReply)) === undefined);
});
