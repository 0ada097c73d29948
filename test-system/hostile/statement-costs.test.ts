/**
 * What statements cost with ten times the rows. The table has those whose work grows with what customers do: followers of events,
 * webhooks, upkeep and listings. To add a statement, add a line; `fill` writes the rows.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { permissionsOf } from '../../src/accounts/access/permission.ts';
import { readAuditPage } from '../../src/accounts/audit/audit-page-store.ts';
import type { Database } from '../../src/base/database/open-database.ts';
import { type AccountId, newId } from '../../src/base/values/ids.ts';
import { webhookKinds } from '../../src/content/message/event-kinds.ts';
import { ensureMessagePartitions } from '../../src/content/message/message-partitions-store.ts';
import { findSuppressions } from '../../src/content/suppression/suppression-store.ts';
import { suppressBounced } from '../../src/outcomes/bounce/suppress-bounced-store.ts';
import type { Follower } from '../../src/outcomes/feed/event-feed.ts';
import { anyBehind } from '../../src/outcomes/feed/feed-cursor-store.ts';
import { allLanes, countLaneRows, nextWindow } from '../../src/outcomes/feed/feed-window-store.ts';
import { unthrottled } from '../../src/outcomes/feed/work-throttle.ts';
import { findMessages } from '../../src/outcomes/report/find-messages-store.ts';
import { rollUp } from '../../src/outcomes/report/roll-up-store.ts';
import { writeSearchRows } from '../../src/outcomes/report/search-rows-store.ts';
import { recordTemplateUsage } from '../../src/outcomes/report/template-usage-store.ts';
import { deleteOldRows, sweepAttachments } from '../../src/outcomes/retention/delete-old-store.ts';
import {
  applyRetentionRules,
  saveRetentionRule,
} from '../../src/outcomes/retention/retention-store.ts';
import {
  readAccountEvents,
  removeOldEventPages,
  writeEventPages,
} from '../../src/outcomes/webhook/account-event-store.ts';
import {
  claimDeliveries,
  readLog,
  removeOldDeliveries,
  replayRange,
  resumeNext,
} from '../../src/outcomes/webhook/delivery-store.ts';
import {
  addEndpoint,
  listEndpoints,
  unpauseEndpoint,
} from '../../src/outcomes/webhook/endpoint-store.ts';
import { fanOutNext, findWebhookWork } from '../../src/outcomes/webhook/fan-out-store.ts';
import { SecretBox } from '../../src/outcomes/webhook/secret-box.ts';
import { saveShop } from '../../test/support/shop.ts';
import { measureCost, type StatementCost } from '../../test/support/statement-cost.ts';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.ts';
import { testKey } from '../../test/support/test-service.ts';

type Kysely = Database['kysely'];

/**
 * Enough that indexes have more than one page, and ten times as many take several batches: work that each batch does for all that
 * are left shows.
 */
const fewMessages = 500;
const factor = 10;
/** Of rows and buffers: an index with ten times the entries can have a level more. */
const maxFactor = 12;

/** A database with messages and what follows from them. */
interface Filled extends TestDatabase {
  readonly accountId: AccountId;
  readonly endpointId: string;
}

const small = await fill(fewMessages);
const large = await fill(fewMessages * factor);

async function fill(messages: number): Promise<Filled> {
  const created = await createTestDatabase();
  const { pool, kysely } = created.database;
  const accountId = await saveShop(created.database);
  await ensureMessagePartitions({ database: created.database, log: pino({ level: 'silent' }) });
  const box = new SecretBox(testKey);
  const { id: endpointId } = await addEndpoint(kysely, box, accountId, {
    url: 'https://a.test/',
    kinds: webhookKinds,
    permissions: permissionsOf.owner,
  });
  const messageIds = Array.from({ length: messages }, () => newId());
  await pool.query(
    `with accepted as (
       insert into message (account_id, id, retention_days, template_id, template_version, transactional, track_opens, track_clicks,
         deliver_when_delayed, client_id, accepted_at, state_at, state, content)
       select $1, id, 90, 'note', 1, true, true, true, true, 'test', now(), now(), 'delivered',
         json_build_object('to', 'r' || n || '@people.test', 'from', json_build_object('address', 'orders@shop.test'),
           'attributes', json_build_object('order', n::text))
       from unnest($2::uuid[]) with ordinality as m (id, n)
       returning account_id, id, retention_days)
     insert into message_event (account_id, message_id, retention_days, id, at, kind, recipient, detail)
     select account_id, id, retention_days, gen_random_uuid(), now(), e.kind, 0, e.detail::json
     from accepted, (values ('bounced', '{"cause":"no-mailbox","permanent":true}'), ('opened', '{"class":"person"}')) as e (kind, detail)`,
    [accountId, messageIds],
  );
  await pool.query(
    `insert into suppression (account_id, address, reason, created_at, expires_at)
     select $1, 's' || n || '@people.test', 'manual', now() - interval '2 days',
       case when n % 2 = 0 then now() - interval '1 day' end
     from generate_series(1, $2) as n`,
    [accountId, messages],
  );
  await pool.query(
    `insert into audit_event (id, at, kind, outcome, account_id, detail)
     select gen_random_uuid(), now() - n * interval '1 s', 'webhook_paused', 'done', $1, '{}' from generate_series(1, $2) as n`,
    [accountId, messages],
  );
  await pool.query('vacuum analyze');
  return { ...created, accountId, endpointId };
}

async function follow(kysely: Kysely, follower: Pick<Follower, 'follow'>): Promise<void> {
  await kysely.transaction().execute(async (transaction) => {
    const window = await nextWindow(transaction, { from: '0', lanes: allLanes }, 1_000_000);
    assert.ok(window && window.rows >= fewMessages * 3);
    await follower.follow(transaction, window, unthrottled);
  });
}

const pages: Pick<Follower, 'follow'> = {
  follow: async (transaction, window) => void (await writeEventPages(transaction, window)),
};

async function fanOutAll(kysely: Kysely, accountId: AccountId): Promise<void> {
  while ((await fanOutNext(kysely, accountId)).mayHaveMore);
}

/** In this order: later ones need what earlier ones have written. */
const statements: Readonly<Record<string, (kysely: Kysely, filled: Filled) => Promise<unknown>>> = {
  'looking for new events': (kysely) => anyBehind(kysely, ['report', 'search'], [0, 0]),
  'a window of events': (kysely) => nextWindow(kysely, { from: '0', lanes: allLanes }, 1_000_000),
  'a window of half of the lanes': (kysely) =>
    nextWindow(kysely, { from: '0', lanes: 15 }, 1_000_000),
  'the rows of lanes': (kysely) =>
    countLaneRows(kysely, { from: '0', until: '9223372036854775807', lanes: allLanes }),
  'the follower of suppressions': (kysely) => follow(kysely, suppressBounced),
  'the follower of reports': (kysely) => follow(kysely, rollUp),
  'the follower of template usage': (kysely) => follow(kysely, recordTemplateUsage),
  'the follower of search': (kysely) => follow(kysely, writeSearchRows),
  'the pages of an account’s events': (kysely) => follow(kysely, pages),
  'looking for webhooks before the fan-out': (kysely) => findWebhookWork(kysely),
  'the fan-out of webhooks': (kysely, { accountId }) => fanOutAll(kysely, accountId),
  'looking for webhooks': (kysely) => findWebhookWork(kysely),
  'a claim of webhooks': (kysely, key) => claimDeliveries(kysely, key),
  'resuming a webhook': async (kysely, { accountId, endpointId }) => {
    await unpauseEndpoint(kysely, accountId, endpointId);
    while (await resumeNext(kysely, accountId, endpointId));
  },
  'a claim from a long backlog': (kysely, key) => claimDeliveries(kysely, key),
  'replaying webhooks': (kysely, { accountId, endpointId }) =>
    replayRange(
      kysely,
      { accountId, endpointId, replayId: newId() },
      { from: new Date(0), until: new Date(Date.now() + 60_000), state: undefined },
      '0',
      '9223372036854775807',
    ),
  'the list of webhooks': (kysely, { accountId }) => listEndpoints(kysely, accountId),
  'the log of a webhook': (kysely, { accountId, endpointId }) =>
    readLog(kysely, accountId, endpointId, { limit: 50 }),
  'what failed of a webhook': (kysely, { accountId, endpointId }) =>
    readLog(kysely, accountId, endpointId, { state: 'failed', limit: 50 }),
  'removing old deliveries of webhooks': async (kysely) => {
    await kysely
      .updateTable('webhook_delivery')
      .set({ state: 'delivered', last_at: new Date('2026-01-01') })
      .execute();
    await removeOldDeliveries(kysely);
  },
  'the events of an account': (kysely, { accountId }) =>
    readAccountEvents(kysely, accountId, undefined, 100),
  'a page of messages': (kysely, { accountId }) => findMessages(kysely, accountId, { limit: 50 }),
  'the messages of a recipient': (kysely, { accountId }) =>
    findMessages(kysely, accountId, { address: 'r7@people.test', limit: 50 }),
  'a page of suppressions': (kysely, { accountId }) =>
    findSuppressions(kysely, accountId, { limit: 50 }),
  'a page of the audit log': (kysely, { accountId }) =>
    readAuditPage(kysely, accountId, allEntries, { before: undefined, limit: 50 }),
  'removing expired suppressions': (kysely) => deleteOldRows(kysely, 'suppression'),
  'sweeping attachments': (kysely) => sweepAttachments(kysely),
  'a retention rule': async (kysely, { accountId, clock }) => {
    await saveRetentionRule(kysely, accountId, {
      contentDays: 3,
      addressDays: 4,
      engagementDays: 5,
    });
    await clock.advance(10 * 24 * 60 * 60 * 1_000);
    await applyRetentionRules(kysely);
    await clock.reset();
  },
  'removing old pages of events': async (kysely, { accountId, clock }) => {
    await clock.advance(100 * 24 * 60 * 60 * 1_000);
    await removeOldEventPages(kysely, accountId);
    await clock.reset();
  },
};

const allEntries = {
  kind: undefined,
  thing: undefined,
  email: undefined,
  words: [],
  from: undefined,
  until: undefined,
};

/** As of followers, so that the planner doesn't choose by the size of a table. */
const settings = '-c enable_seqscan=off';

for (const [name, run] of Object.entries(statements))
  test(`the cost grows no more than the rows: ${name}`, async () => {
    const costs: StatementCost[] = [];
    for (const filled of [small, large]) {
      // As autovacuum leaves tables.
      await filled.database.pool.query('vacuum analyze');
      costs.push(await measureCost(filled.url, settings, (kysely) => run(kysely, filled)));
    }
    const [few, many] = costs;
    assert.ok(few && many && few.buffers > 0);
    const measured = JSON.stringify({ few, many });
    assert.ok(many.buffers <= maxFactor * few.buffers, `buffers: ${measured}`);
    assert.ok(many.rows <= maxFactor * Math.max(few.rows, 1), `rows: ${measured}`);
  });
