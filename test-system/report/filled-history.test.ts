import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { openBenchAccount } from '../../bench/bench-account.ts';
import { fillHistory, planHistory } from '../../bench/history/fill-history.ts';
import type { Database } from '../../src/base/database/open-database.ts';
import type { EmailAddress } from '../../src/base/values/email-address.ts';
import type { MessageId } from '../../src/base/values/ids.ts';
import { createLog } from '../../src/base/values/log.ts';
import { writeFeedbackEvents } from '../../src/outcomes/bounce/feedback-event-store.ts';
import { handleFeedbackMail } from '../../src/outcomes/bounce/start-bounce-server.ts';
import { suppressBounced } from '../../src/outcomes/bounce/suppress-bounced-store.ts';
import { EventFeed } from '../../src/outcomes/feed/event-feed.ts';
import { rollUp } from '../../src/outcomes/report/roll-up-store.ts';
import { writeSearchRows } from '../../src/outcomes/report/search-rows-store.ts';
import { recordTemplateUsage } from '../../src/outcomes/report/template-usage-store.ts';
import { unsubscribe } from '../../src/outcomes/unsubscribe/unsubscribe-store.ts';
import { QueueControlStore } from '../../src/sending/queue/control-store.ts';
import { addressesIn, FeedbackShop } from '../../test/support/feedback-shop.ts';
import { startSink } from '../../test/support/mail-sink.ts';
import { bodyWith } from '../../test/support/send-client.ts';
import { publishShopTemplate } from '../../test/support/shop.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const log = createLog('silent');
const { database: filled } = await createTestDatabase();
const shop = await openBenchAccount(filled);
await fillHistory(filled, await planHistory(filled, shop, 4_000), log);

test('the event followers derive the same data from a filled history as it was filled with', async () => {
  const tables = ['message_search', 'report_total', 'report_destination', 'report_latency'];
  const sums = ['report_sum', 'report_latency_sum'];
  const all = [...tables, ...sums, 'suppression', 'template_call'];
  const before = await contents(filled, all);
  for (const rows of Object.values(before)) assert.ok(rows.length > 10);
  for (const table of [...all, 'feed_cursor']) await filled.pool.query(`delete from ${table}`);
  const followers = [suppressBounced, writeSearchRows, rollUp, recordTemplateUsage];
  await new EventFeed({ database: filled, log, followers }).catchUp();
  assert.deepEqual(await contents(filled, all), before);
});

test('a filled history has the same rows as real accepting, delivering and reading', async () => {
  const made = await fillThroughService();
  const shapes = await Promise.all([shapesOf(made), shapesOf(filled)]);
  const [ours = new Map(), theirs = new Map()] = shapes;
  assert.ok(theirs.size >= 16);
  for (const [name, shape] of theirs) assert.deepEqual(shape, ours.get(name), name);
});

test('a filled partition has the same indexes and settings as one created by the service', async () => {
  const { rows } = await filled.pool.query<{ name: string; empty: boolean; looks: string[] }>(`
    select c.relname as name, not exists (
        select from message m where m.tableoid = c.oid) as empty,
      array_cat(array(select replace(pg_get_indexdef(x.indexrelid), c.relname, 'it') || indisprimary from pg_index x
        where x.indrelid = c.oid order by 1), c.reloptions) as looks
    from pg_class c where c.relname ~ '^message(|_event|_search)_90_2' and c.relkind = 'r' order by 1`);
  for (const table of ['message', 'message_event', 'message_search']) {
    const ofTable = rows.filter(({ name }) => name.startsWith(`${table}_90_2`));
    const distinct = new Set(ofTable.map(({ looks }) => looks.join('\n')));
    assert.ok(ofTable.length > 13);
    assert.equal(distinct.size, 1, [...distinct].join('\n\n'));
  }
});

async function contents(
  { pool }: Database,
  tables: readonly string[],
): Promise<Record<string, string[]>> {
  const found = tables.map(async (table) => {
    const { rows } = await pool.query(`select t::text as row from ${table} t order by 1`);
    return [table, rows.map(({ row }) => row)] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}

/** For each kind of row: which columns are null, the format of ids and times, and the JSON members in order. */
async function shapesOf({ pool }: Database): Promise<Map<string, unknown>> {
  const { rows } = await pool.query<{ name: string; shape: string }>(`
    select distinct concat_ws(' ', 'message', state, case when content -> 'cc' is not null then 'cc' end) as name,
      concat_ws(' ', retention_days, substr(id::text, 15, 1), template_version, client_id is null, tx is null,
        accepted_at <= state_at, regexp_replace(tableoid::regclass::text, '[0-9]{8}', 'week'), deliver_when_delayed,
        array(select json_object_keys(content)), array(select json_object_keys(content -> 'from'))) as shape
    from message where external_id is not null and tag is not null and state <> 'deferred'
    union
    select distinct concat_ws(' ', kind, coalesce(recipient::text, 'all'), detail ->> 'cause', detail ->> 'class'),
      concat_ws(' ', retention_days, substr(id::text, 15, 1), tx is null, at is null,
        regexp_replace(tableoid::regclass::text, '[0-9]{8}', 'week'), array(select json_object_keys(detail)),
        detail ->> 'reason', json_typeof(detail -> 'transcript'), json_typeof(detail -> 'link'), left(detail::text, 8))
    from message_event
    where kind <> 'cancel-asked'
      and not (kind = 'opened' and detail ->> 'class' = 'prefetch')
    union
    select distinct concat_ws(' ', 'search', recipient, state),
      concat_ws(' ', retention_days, address is null, tag is null, external_id is null)
    from message_search where tag is not null and external_id is not null and state <> 'deferred'`);
  return new Map(rows.map(({ name, shape }) => [name, shape]));
}

/** Messages with every outcome, created by the service itself. */
async function fillThroughService(): Promise<Database> {
  const sink = await startSink({
    onRcpt(address) {
      if (address.startsWith('gone')) return '550 5.1.1 No such user here';
      if (address.startsWith('full')) return '552 5.2.2 Mailbox full';
      return address.startsWith('slow') ? '451 4.7.1 Greylisted, try again later' : undefined;
    },
    onMessage: () => undefined,
  });
  const place = await FeedbackShop.open({ SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=off` });
  const { pool, kysely } = place.database;
  await publishShopTemplate(place.database, place.shop, {
    id: 'history-01',
    sender: 'orders@shop.test',
    freshnessSeconds: 2,
    source: {
      html: ['one', 'two', 'three', 'four']
        .map((name) => `<a href="https://shop.test/${name}/{{Order Number}}">${name}</a>`)
        .join(' '),
    },
  });
  const send = async (to: string, more: { cc?: string[]; late?: boolean } = {}) => {
    const { body } = await place.client.send({
      template: 'history-01',
      body: bodyWith({
        envelope: { toAddress: to, ...(more.cc && { ccAddressList: more.cc }) },
        metadata: { transactional: false, externalId: `order-${to}`, tagList: ['tag-01'] },
        actions: {
          trackOpens: true,
          trackClicks: true,
          deliveryWhenDelayed: more.late === false ? 'FALSE' : 'TRUE',
        },
      }),
    });
    return String(body.messageId) as MessageId;
  };
  const reaches = (id: MessageId, state: string) =>
    waitFor(state, async () => (await place.state(id)) === state);
  const read = await send('reader1@people.test');
  await reaches(read, 'delivered');
  await readLinks(sink.mails[0]?.source ?? '');
  await place.waitForEvents(read, 'clicked', 4);
  const scanned = await send('reader2@people.test');
  await reaches(scanned, 'delivered');
  await readLinks(sink.mails[1]?.source ?? '', 1);
  await place.waitForEvents(scanned, 'clicked', 1);
  await reaches(await send('reader3@people.test', { cc: ['copy@team.test'] }), 'delivered');
  await reaches(await send('gone@people.test'), 'bounced');
  await reaches(await send('full@people.test'), 'bounced');
  await reaches(await send('slow1@people.test', { late: false }), 'expired');
  const stopped = await send('slow2@people.test');
  await reaches(stopped, 'deferred');
  await new QueueControlStore(place.database).control('cancel', {
    accountId: place.shop.id,
    messageId: stopped,
  });
  await reaches(stopped, 'canceled');
  const example = await readFile(
    new URL('../../test/outcomes/bounce/mail-reports/arf-rfc5965.eml', import.meta.url),
    'utf8',
  );
  const arf = Buffer.from(
    example.replace(/(?<=^Original-Rcpt-To: <)[^>]+/m, 'reader1@people.test'),
  );
  const report = await handleFeedbackMail(
    { messageId: read, recipient: 0, accountTag: undefined },
    { source: arf, digest: 'arf' },
  );
  assert.ok(report !== undefined);
  await writeFeedbackEvents(kysely, [report]);
  await unsubscribe(
    kysely,
    {
      accountId: place.shop.id,
      messageId: read,
      retentionDays: 90,
      address: 'r@people.test' as EmailAddress,
    },
    'one-click',
  );
  await waitFor('search rows', async () => {
    const { rows } = await pool.query(
      `select from message_search where state in ('canceled', 'expired')`,
    );
    return rows.length === 2;
  });
  return place.database;
}

/** Opens the mail and follows some of its links, or all of them and then the hidden one. */
async function readLinks(source: string, count?: number): Promise<void> {
  const html = source.replaceAll('=\r\n', '').replaceAll('=3D', '=');
  const links = addressesIn(html, 'href').filter((link) => link.includes('/c/'));
  const asked = [
    ...(count === undefined
      ? links.filter((link) => !isHidden(html, link))
      : links.slice(0, count)),
    ...addressesIn(html, 'src'),
  ];
  for (const link of asked)
    await fetch(link, {
      redirect: 'manual',
      headers: {
        'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      },
    });
}

function isHidden(html: string, link: string): boolean {
  return html.includes(`href="${link}" style="display:none"`);
}
