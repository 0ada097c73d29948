import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newId } from '../../../src/base/values/ids.ts';
import { createLog } from '../../../src/base/values/log.ts';
import { StsPolicyStore } from '../../../src/sending/delivery/mta-sts/sts-policy-store.ts';
import { TlsCounter } from '../../../src/sending/delivery/tls-report/tls-counter.ts';
import { TlsResultStore } from '../../../src/sending/delivery/tls-report/tls-result-store.ts';
import { createTestDatabase } from '../../support/test-database.ts';

const { database } = await createTestDatabase();
const log = createLog('silent');

test('RFC 8460: sessions of two nodes are summed by domain, policy, result and host', async () => {
  const stores = [newId(), newId()].map((node) => new TlsResultStore(database, node));
  const counters = stores.map((store) => new TlsCounter(store, log));
  const good = { domain: 'a.test', policyType: 'sts', type: 'success', host: 'mx.a.test' } as const;
  for (const counter of counters) {
    counter.count(good);
    counter.count(good);
    await counter.write();
    counter.count(good);
    counter.count({ ...good, type: 'certificate-expired' });
    await counter.stop();
  }
  const [store] = stores;
  assert.ok(store);
  const day = new Date().toISOString().slice(0, 10);
  const expected = {
    day,
    domain: 'a.test',
    policyType: 'sts',
    success: 6,
    failed: 2,
    failures: [{ type: 'certificate-expired', host: 'mx.a.test', sessions: 2 }],
  };
  assert.deepEqual(await store.list({}, 10), [expected]);
  await store.clean();
  assert.deepEqual(await store.list({ from: day, until: day, domain: 'a.test' }, 10), [expected]);
  assert.deepEqual(await store.list({ until: '2026-01-01' }, 10), []);
  assert.deepEqual(await store.list({ domain: 'b.test' }, 10), []);
});

test('RFC 8461: a policy is stored as fetched and replaced by a newer one', async () => {
  const store = new StsPolicyStore(database);
  const kept = {
    domain: 'a.test',
    recordId: '1',
    policy: { mode: 'enforce' as const, mx: ['mx.a.test'], maxAge: 86_400 },
    fetchedAt: new Date('2026-03-01T00:00:00Z'),
  };
  assert.equal(await store.read('a.test'), undefined);
  await store.save(kept);
  assert.deepEqual(await store.read('a.test'), kept);
  await store.save({ ...kept, recordId: '2', policy: { ...kept.policy, mode: 'none', mx: [] } });
  assert.equal((await store.read('a.test'))?.policy.mode, 'none');
});
