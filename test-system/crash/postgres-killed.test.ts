import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { migrate } from '../../src/base/database/migrate.ts';
import { openDatabase } from '../../src/base/database/open-database.ts';
import { startEmbeddedDatabase } from '../../src/host/embedded-database/start-embedded-database.ts';
import { copyDataFolder } from '../../test/support/copy-data-folder.ts';
import { bodyWith, SendClient } from '../../test/support/send-client.ts';
import { getToken, openShop } from '../../test/support/shop.ts';
import { startTestService } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const embedded = await startEmbeddedDatabase({
  dataDir: copyDataFolder('initialized'),
  log: { info: () => undefined, warn: () => undefined },
});
after(() => embedded.stop());
const { host, port, user, password, database: name } = embedded.settings;
const url = new URL(`postgres://localhost:${port}/${name}`);
url.username = user;
url.password = password;
url.searchParams.set('host', host);
const database = openDatabase({ url: url.href });
after(() => database.close());
await migrate(database);
const shop = await openShop(database);
const service = await startTestService({ databaseUrl: url.href, worker: false });
const client = new SendClient(service, await getToken(service, shop));

test('rule 1: kill -9 of PostgreSQL under load loses no accepted request and stores none twice', async () => {
  const answered = new Map<string, string>();
  const statuses = new Map<number, number>();
  let sending = true;
  let next = 0;
  const clients = Array.from({ length: 64 }, async () => {
    while (sending) {
      next += 1;
      const externalId = `order-${next}`;
      const response = await client.send({ body: bodyWith({ metadata: { externalId } }) });
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      if (response.status === 200) answered.set(externalId, String(response.body.messageId));
      else {
        assert.equal(response.status, 503, response.text);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  });
  for (let round = 0; round < 2; round += 1) {
    const enough = answered.size + 500;
    await waitFor('messages to be accepted', () => answered.size >= enough, 60_000);
    assert.ok(embedded.pid !== undefined);
    process.kill(embedded.pid, 'SIGKILL');
  }
  const enough = answered.size + 500;
  await waitFor('messages to be accepted again', () => answered.size >= enough, 60_000);
  sending = false;
  await Promise.all(clients);

  const { rows } = await database.pool.query<{ id: string; external_id: string }>(
    `select m.id, m.external_id from message m
     join queued_delivery q on q.account_id = m.account_id and q.message_id = m.id
     where m.account_id = '46100'`,
  );
  const stored = new Map(rows.map((row) => [row.external_id, row.id]));
  assert.equal(stored.size, rows.length, 'no request is stored twice');
  for (const [externalId, id] of answered) assert.equal(stored.get(externalId), id, externalId);
  assert.deepEqual(
    rows.filter((row) => !answered.has(row.external_id)).map((row) => row.external_id),
    [],
    'nothing that was refused is stored',
  );
});
