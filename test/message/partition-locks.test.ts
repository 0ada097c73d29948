import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dropOldPartitions } from '../../src/feedback/privacy/drop-partitions-store.ts';
import { createLog } from '../../src/foundation/log.ts';
import { ensureMessagePartitions } from '../../src/message/message-partitions-store.ts';
import { SendClient } from '../support/send-client.ts';
import { getToken, openShop } from '../support/shop.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';

const { database, url, clock } = await createTestDatabase();
const shop = await openShop(database);
const service = await startTestService({ databaseUrl: url, roles: ['http'] });
const client = new SendClient(service, await getToken(service, shop));
const log = createLog('silent');
const year = 365 * 24 * 60 * 60 * 1000;

async function oldPartitions(): Promise<number> {
  const { rowCount } = await database.pool.query(
    "select from pg_class where relname ~ '^message_90_2020' and relkind = 'r'",
  );
  return rowCount ?? 0;
}

test('dropping old partitions during a long read does not block requests for long and is retried later', async () => {
  await clock.set(Date.parse('2020-06-03T00:00:00Z'));
  await ensureMessagePartitions({ database, log });
  assert.equal(await oldPartitions(), 3);
  await clock.advance(year);

  const reader = await database.pool.connect();
  try {
    await reader.query('begin');
    await reader.query('select count(*) from message');
    let dropping = true;
    const dropped = dropOldPartitions(database, log).finally(() => {
      dropping = false;
    });
    let longest = 0;
    while (dropping) {
      const started = performance.now();
      const answer = await client.send();
      assert.equal(answer.status, 200, answer.text);
      longest = Math.max(longest, performance.now() - started);
    }
    await dropped;
    // Each unavailable lock delays concurrent requests for a fifth of a second.
    assert.ok(longest < 5_000, `the longest took ${longest} ms`);
    assert.equal(await oldPartitions(), 3, 'the reader was not interrupted');
    await reader.query('commit');
  } finally {
    reader.release();
  }

  await dropOldPartitions(database, log);
  assert.equal(await oldPartitions(), 0);
});
