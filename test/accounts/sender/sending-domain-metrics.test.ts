import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { registerSendingDomainMetrics } from '../../../src/accounts/sender/sending-domains.ts';
import { createLog } from '../../../src/base/values/log.ts';
import { saveShop } from '../../support/shop.ts';
import { createTestDatabase } from '../../support/test-database.ts';

const { database } = await createTestDatabase();
const log = createLog('silent');

async function scrape(registry: Registry): Promise<Record<string, number>> {
  const lines = (await registry.metrics()).matchAll(/^\w+\{state="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...lines].map(([, state = '', value]) => [state, Number(value)]));
}

function openRegistry(): Registry {
  const registry = new Registry();
  registerSendingDomainMetrics(registry, database, log);
  return registry;
}

test('the metrics count the sending domains of all accounts by state, and read them once a minute', async () => {
  const first = openRegistry();
  assert.deepEqual(await scrape(first), { pending: 0, verified: 0, broken: 0 });
  for (const id of ['1', '2']) {
    const account = await saveShop(database, { id });
    for (const state of ['verified', 'broken'])
      await database.pool.query(
        'insert into sending_domain (account_id, domain, return_path, state) values ($1, $2, $2, $3)',
        [account, `${state}.test`, state],
      );
  }
  assert.deepEqual(await scrape(first), { pending: 0, verified: 0, broken: 0 });
  assert.deepEqual(await scrape(openRegistry()), { pending: 0, verified: 2, broken: 2 });
});
