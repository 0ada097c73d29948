import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../../src/base/values/ids.ts';
import { ShapingStore } from '../../../src/sending/delivery/shaping/shaping-store.ts';
import type { TlsResult } from '../../../src/sending/delivery/tls-report/tls-result-store.ts';
import { TlsResultStore } from '../../../src/sending/delivery/tls-report/tls-result-store.ts';
import { openTestShop } from '../../support/test-shop.ts';

const environment = { SMTP_HOSTNAME: 'mail.service.test' };
const { database, owner, as, makeOperator } = await openTestShop({
  worker: false,
  environment,
});
await makeOperator();
const receivers = '/installation/receivers';
const settings = `${receivers}/yahoo/settings`;
const results = '/installation/tls-results';
const store = new ShapingStore(database, newId(), Date.now);
const today = new Date().toISOString().slice(0, 10);

test('learned rate limits are shown with the receiver’s reply and can be overridden', async () => {
  const heartbeat = { name: 'yahoo', label: 'Yahoo', startRate: 5, startConnections: 10 };
  const [known] = await store.heartbeat([{ ...heartbeat, demand: 0, sent: 0 }]);
  assert.ok(known);
  const find = async () => (await owner.get(receivers)).body.items as Record<string, unknown>[];
  const [fresh] = await find();
  assert.deepEqual([fresh?.messagesPerConnection, fresh?.session], [20, null]);
  const reason = '421 Max message per connection reached';
  const session = { maxMessages: 5, learnedAt: Date.now(), reason };
  await store.save('yahoo', known.version, { ...known.throttle, session }, null);
  const [learnt] = await find();
  assert.equal(learnt?.messagesPerConnection, 5);
  assert.equal(learnt?.fixedMessagesPerConnection, null);
  assert.match(JSON.stringify(learnt?.session), new RegExp(reason));
  const fix = { rate: 2, connections: 3, messagesPerConnection: 8 };
  const put = await owner.put(settings, fix);
  assert.deepEqual([put.status, put.body], [200, fix]);
  const [fixed] = await find();
  assert.deepEqual(
    [fixed?.rate, fixed?.connections, fixed?.messagesPerConnection],
    [fix.rate, fix.connections, fix.messagesPerConnection],
  );
  assert.equal(fixed?.fixedMessagesPerConnection, 8);
  const noOverride = { rate: null, messagesPerConnection: null };
  assert.equal((await owner.put(settings, noOverride)).status, 200);
  const [again] = await find();
  assert.deepEqual(
    [again?.messagesPerConnection, again?.fixedRate, again?.fixedConnections],
    [5, null, 3],
    'what is left out stays',
  );
  const { rows } = await database.pool.query<{ detail: Record<string, unknown> }>(
    `select detail from audit_event where kind = 'receiver_changed' order by at`,
  );
  assert.deepEqual(
    rows.map(({ detail }) => [detail.id, detail.changed]),
    [
      ['yahoo', 'rate, connections, messagesPerConnection'],
      ['yahoo', 'rate, messagesPerConnection'],
    ],
  );
});

test('an invalid messagesPerConnection is rejected by name', async () => {
  for (const messagesPerConnection of [0, 2.5, 100_001, 'many']) {
    const response = await owner.put(settings, { messagesPerConnection });
    assert.equal(response.status, 422, response.text);
    const [error] = response.body.errors as { field: string }[];
    assert.equal(error?.field, 'messagesPerConnection');
  }
  assert.equal((await owner.put(`${receivers}/nobody/settings`, { rate: 1 })).status, 404);
});

test('RFC 8460: TLS results are listed by day and domain with failures, in pages', async () => {
  const sts = (domain: string, type: TlsResult['type']): TlsResult => ({
    domain,
    policyType: 'sts',
    type,
    host: `mx.${domain}`,
  });
  const tls = new TlsResultStore(database, newId());
  const other = new TlsResultStore(database, newId());
  await tls.add([
    { ...sts('a.test', 'success'), sessions: 10 },
    { ...sts('a.test', 'certificate-expired'), sessions: 2 },
    { ...sts('b.test', 'success'), policyType: 'no-policy-found', sessions: 4 },
  ]);
  await other.add([{ ...sts('a.test', 'certificate-expired'), sessions: 1 }]);
  await database.pool.query(
    `insert into tls_result (day, domain, node, policy_type, type, host, sessions)
     select day - 1, domain, node, policy_type, type, host, sessions from tls_result where domain = 'a.test'`,
  );
  const listed = await owner.get(results);
  const items = listed.body.items as { day: string; domain: string; failed: number }[];
  assert.deepEqual(items[0], {
    day: today,
    domain: 'a.test',
    policyType: 'sts',
    success: 10,
    failed: 3,
    failures: [{ type: 'certificate-expired', host: 'mx.a.test', sessions: 3 }],
  });
  assert.deepEqual(
    items.map(({ domain }) => domain),
    ['a.test', 'b.test', 'a.test'],
  );
  const paged: unknown[] = [];
  let cursor: string | null = null;
  do {
    const at: string = cursor === null ? '' : `&cursor=${cursor}`;
    const page = await owner.get(`${results}?limit=1${at}`);
    assert.equal(page.status, 200, page.text);
    paged.push(...(page.body.items as unknown[]));
    cursor = page.body.nextCursor as string | null;
  } while (cursor !== null);
  assert.deepEqual(paged, items);
  const count = async (query: string) =>
    ((await owner.get(`${results}?${query}`)).body.items as unknown[]).length;
  assert.equal(await count('domain=A.test'), 2);
  assert.equal(await count(`from=${today}`), 2);
  assert.equal(await count(`domain=a.test&from=${today}&until=${today}`), 1);
  assert.equal(await count('until=2026-01-01'), 0);
});

test('invalid day and domain filters are rejected by name', async () => {
  for (const [query, field] of [
    ['from=yesterday', 'from'],
    ['until=2026-02-30', 'until'],
    ['domain=no%20domain', 'domain'],
    ['cursor=x', 'cursor'],
  ]) {
    const response = await owner.get(`${results}?${query}`);
    assert.equal(response.status, 422, response.text);
    assert.equal((response.body.errors as { field: string }[])[0]?.field, field);
  }
});

test('RFC 8460 4: the report of a day contains policy, summary and failures', async () => {
  await database.pool.query(
    `insert into sts_policy (domain, record_id, mode, mx, max_age, fetched_at)
     values ('a.test', '1', 'testing', '{*.a.test}', 86400, now())`,
  );
  const { body } = await owner.get(`/installation/tls-reports/a.test?day=${today}`);
  assert.deepEqual(body, {
    'organization-name': 'mail.service.test',
    'date-range': {
      'start-datetime': `${today}T00:00:00Z`,
      'end-datetime': `${today}T23:59:59Z`,
    },
    'contact-info': 'postmaster@mail.service.test',
    'report-id': `${today}_a.test@mail.service.test`,
    policies: [
      {
        policy: {
          'policy-type': 'sts',
          'policy-string': ['version: STSv1', 'mode: testing', 'mx: *.a.test', 'max_age: 86400'],
          'policy-domain': 'a.test',
          'mx-host': ['*.a.test'],
        },
        summary: { 'total-successful-session-count': 10, 'total-failure-session-count': 3 },
        'failure-details': [
          {
            'result-type': 'certificate-expired',
            'receiving-mx-hostname': 'mx.a.test',
            'failed-session-count': 3,
          },
        ],
      },
    ],
  });
  const none = await owner.get(`/installation/tls-reports/c.test?day=${today}`);
  assert.equal(none.status, 404);
  assert.equal((await owner.get('/installation/tls-reports/a.test')).status, 422);
});

test('only operators can read receivers and TLS results', async () => {
  const developer = await as('developer');
  for (const path of [
    receivers,
    settings,
    results,
    `/installation/tls-reports/a.test?day=${today}`,
  ])
    assert.equal((await developer.get(path)).status, 403);
});
