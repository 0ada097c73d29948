import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenMint } from '../../src/accounts/access/token-mint.ts';
import { accountLimits } from '../../src/accounts/account/account-limits.ts';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { DkimKeyStore } from '../../src/accounts/sender/dkim-key-store.ts';
import { readSendingDomains } from '../../src/accounts/sender/sending-domain-store.ts';
import { checkBudget, SendingDomains } from '../../src/accounts/sender/sending-domains.ts';
import { recordUse } from '../../src/base/database/budget-store.ts';
import { DnsClient } from '../../src/base/dns/dns-client.ts';
import { parseDnsServer } from '../../src/base/dns/dns-server.ts';
import type { AccountId } from '../../src/base/values/ids.ts';
import { createLog } from '../../src/base/values/log.ts';
import { accountTables } from '../../test/support/account-first.ts';
import { SessionWorld } from '../../test/support/session-world.ts';
import { signedInManager } from '../../test/support/signed-in-manager.ts';
import { TestBrowser } from '../../test/support/test-browser.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { TestDns } from '../../test/support/test-dns.ts';
import { startTestService, testKey } from '../../test/support/test-service.ts';

const { url: databaseUrl, database } = await createTestDatabase();
const world = new SessionWorld(database);
await world.addAccount();
const { accountId } = world;
const owner = await world.addPerson({ accounts: [] });
await saveMembership(database.kysely, { accountId, personId: owner.id, role: 'owner' });
const zones = await new TestDns().start();
const service = await startTestService({ databaseUrl, environment: { DNS_SERVERS: zones.server } });
const manager = await signedInManager(service, owner.email);
const path = `/accounts/${accountId}`;

/** Why the rows of a table need no limit of their own. */
const unlimited: Readonly<Record<string, string>> = {
  access_token: 'initial tokens are limited by user and client, and end',
  account_event_page: 'grows with messages, which have a quota and a retention',
  account_event_start: 'one for an account',
  account_quota_use: 'hours of quotas, deleted when they are over',
  account_sign_in_provider: 'one for an account',
  attachment_content: 'grows with messages and images of templates',
  audit_event: 'kept for AUDIT_DAYS; every caller is limited',
  consent: 'one for a user and an OAuth app, which are limited',
  contact: 'counted by the sizes of lists',
  domain_finding: 'one for each record of a domain, which are limited',
  failed_request: 'at most 10,000 of an account, deleted by age',
  file_import_rejection: 'at most 10,000 of an import, deleted by age',
  grant_code: 'ends within minutes',
  idempotency_key: 'grows with messages, and ends within a day',
  message: 'has a quota and a retention',
  message_attachment: 'grows with messages',
  message_attribute: 'grows with messages',
  message_event: 'grows with messages, with a limit for each kind',
  message_reply: 'limited by message, by recipient and by hour',
  message_search: 'grows with messages',
  privacy_record: 'one for an erasure, which an owner confirms',
  queue_entry: 'grows with messages',
  relay_delivery: 'grows with messages, deleted by age',
  report_destination: 'totals of messages',
  report_latency: 'totals of messages',
  report_latency_sum: 'totals of messages',
  inbox_message: 'at most 10,000 of all accounts together',
  report_locale: 'totals of messages',
  report_ordered: 'totals of messages',
  report_sum: 'totals of messages',
  report_total: 'totals of messages',
  retention_rule: 'one for an account',
  scheduled_message: 'grows with messages',
  sender_proof: 'one for a sender',
  session_pair: 'one for a user and a client, which are limited',
  subject_word: 'grows with messages',
  system_mail: 'has budgets',
  template_call: 'at most 500 shapes of a template, deleted by age',
  webhook_delivery: 'grows with events and webhooks, deleted by age',
  webhook_position: 'one for an account',
  webhook_replay: 'of webhooks, which are limited, deleted by age',
};

test('ASVS 11.1.4: every table of accounts has a limit, or a reason why it needs none', () => {
  const limited = Object.values(accountLimits).map(({ table }) => String(table));
  const known = new Set([...limited, ...Object.keys(unlimited)]);
  assert.deepEqual(
    accountTables.filter((table) => !known.has(table)),
    [],
  );
  assert.deepEqual(
    [...known].filter((table) => !accountTables.includes(table)),
    [],
  );
  assert.deepEqual(
    limited.filter((table) => table in unlimited),
    [],
  );
});

test('ASVS 11.1.4: an account can’t add more than its limit; what it has beyond it stays and can change', async () => {
  const addSenders = (from: number, to: number) =>
    database.pool.query(
      `insert into sender (account_id, address) select $1, 's' || n || '@many.test' from generate_series($2::int, $3::int) n`,
      [accountId, from, to],
    );
  const limit = accountLimits.senders.max;
  await addSenders(1, limit - 1);
  const put = (name: string) => manager.put(`${path}/senders/${name}@many.test`, {});
  assert.equal((await put('last')).status, 201);
  const refused = await put('beyond');
  assert.equal(refused.status, 409, refused.text);
  assert.match(refused.text, /An account can have 5,000 senders\. Remove some before you add/);
  // As in an installation whose earlier release had no limit.
  await addSenders(limit, limit + 50);
  const changed = await manager.put(`${path}/senders/last@many.test`, { displayNames: ['Shop'] });
  assert.equal(changed.status, 200, changed.text);
  assert.equal((await manager.put(`${path}/lists/news`, { name: 'News' })).status, 201);
  assert.equal((await put('beyond')).status, 409);
  assert.equal((await manager.delete(`${path}/senders/last@many.test`)).status, 204);
  assert.equal((await put('beyond')).status, 409);
});

test('ASVS 11.1.4: concurrent changes can’t pass a limit together', async () => {
  await database.pool.query('delete from sender where account_id = $1', [accountId]);
  await database.pool.query(
    `insert into sender (account_id, address) select $1, 's' || n || '@many.test' from generate_series(1, $2::int) n`,
    [accountId, accountLimits.senders.max - 2],
  );
  const results = await Promise.all(
    [1, 2, 3, 4, 5].map((n) => manager.put(`${path}/senders/race${n}@many.test`, {})),
  );
  assert.equal(results.filter(({ status }) => status === 201).length, 2);
});

test('ASVS 11.1.4: a domain has at most two keys that wait for their records', async () => {
  const at = `${path}/domains/keys.test`;
  assert.equal((await manager.put(at, {})).status, 201);
  assert.equal((await manager.post(`${at}/rotate-keys`, {})).status, 200);
  const refused = await manager.post(`${at}/rotate-keys`, {});
  assert.equal(refused.status, 409, refused.text);
  assert.match(
    refused.text,
    /A domain can have 2 DKIM keys of one algorithm waiting for their records/,
  );
});

test('ASVS 11.1.4: an account’s checks have a budget of lookups, and don’t delay those of others', async () => {
  const at = `${path}/domains/keys.test`;
  const budget = checkBudget(accountId, 'on demand');
  await recordUse(database.kysely, [budget], budget.max - 30);
  zones.queries.length = 0;
  const checks = await Promise.all(
    Array.from({ length: 20 }, () => manager.post(`${at}/check`, {})),
  );
  const refused = checks.find(({ status }) => status === 429);
  assert.ok(refused);
  const retryAfter = Number(refused.headers.get('retry-after'));
  assert.ok(retryAfter >= 1 && retryAfter <= 60);
  assert.ok(zones.queries.length > 0);
  // Each record takes few queries, so the budget is one of queries too.
  assert.ok(zones.queries.length <= 30 * 6, `${zones.queries.length} queries`);
  const other = await world.addAccount('2000');
  await saveMembership(database.kysely, { accountId: other, personId: owner.id, role: 'owner' });
  const domain = `/accounts/${other}/domains/shop.test`;
  assert.equal((await manager.put(domain, {})).status, 201);
  assert.equal((await manager.post(`${domain}/check`, {})).status, 200);
});

test('ASVS 11.1.4: many domains of one account don’t delay the background checks of another', async () => {
  const domains = new SendingDomains({
    database,
    dns: new DnsClient([parseDnsServer(zones.server)]),
    keys: new DkimKeyStore(testKey),
    service: {
      delivery: 'direct',
      host: 'mail.sender.test',
      spfMechanisms: ['ip4:192.0.2.10'],
      recordsElsewhere: [],
      usesReturnPath: true,
      trackingTarget: undefined,
    },
    log: createLog('silent'),
  });
  await database.pool.query(
    `insert into sending_domain (account_id, domain, return_path, next_check_at)
     select $1, 'd' || n || '.many.test', 'bounces.d' || n || '.many.test', now() - interval '1 day' from generate_series(1, 300) n`,
    [accountId],
  );
  await database.pool.query(
    `update sending_domain set next_check_at = now() - interval '1 second', checked_at = null where account_id = '2000'`,
  );
  await domains.checkDue();
  const [theirs] = await readSendingDomains(database.kysely, '2000' as AccountId);
  const own = await readSendingDomains(database.kysely, accountId);
  const checked = own.filter(({ checkedAt }) => checkedAt !== undefined);
  assert.ok(theirs?.checkedAt);
  assert.ok(checked.length < 250, `${checked.length} domains were checked within a minute`);
});

test('ASVS 11.1.4: people who join by an invitation count, too', async () => {
  const account = await world.addAccount('3000');
  await saveMembership(database.kysely, { accountId: account, personId: owner.id, role: 'owner' });
  const token = new TokenMint(testKey).mint('link');
  await database.pool.query(
    `insert into invitation (account_id, email, hash, role, invited_by, sent_at, expires_at)
     values ($1, 'last@many.test', $2, 'viewer', $3, now(), now() + interval '1 day')`,
    [account, token.hash, owner.id],
  );
  await database.pool.query(
    `with people as (
       insert into person (id, email, name) select gen_random_uuid(), 'p' || n || '@many.test', 'P'
       from generate_series(2, $2::int) n returning id)
     insert into membership (account_id, person_id, role) select $1, id, 'viewer' from people`,
    [account, accountLimits.users.max],
  );
  const browser = new TestBrowser(service.url);
  const page = await browser.open(`/invitation/${token.text}`);
  const values = { name: 'Last', new: 'a password of my own' };
  const refused = await browser.submit(page, values);
  assert.equal(refused.status, 409, refused.text);
  assert.match(refused.text, /An account can have 10,000 users/);
  await database.pool.query(
    `delete from membership where ctid = (select ctid from membership where account_id = $1 and role = 'viewer' limit 1)`,
    [account],
  );
  assert.match((await browser.submit(page, values)).text, /You’ve joined/);
});
