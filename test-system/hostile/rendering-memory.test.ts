import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openManagedShop } from '../../test/support/management-client.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { bodyWith, SendClient } from '../../test/support/send-client.ts';
import { getToken, publishShopTemplate } from '../../test/support/shop.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import type { TestService } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const { database, url } = await createTestDatabase();
const node = runSignalpost(['serve', '--processes', '1'], {
  DATABASE_URL: url,
  DATA_DIR: temporaryFolder(),
  PORT: '0',
  LOG_LEVEL: 'silent',
  SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
  // Limits the process itself; threads have separate heaps.
  NODE_OPTIONS: '--max-old-space-size=256',
});

test('ASVS 4.0.3 12.1.1: a process with a 256 MB heap survives requests for gigabytes', async () => {
  const [, address = ''] = await node.printed(/running at (http:\/\/\S+)/);
  const service = { url: address } as TestService;
  const { shop, as, path } = await openManagedShop(database, service);
  for (const [id, html] of [
    ['t-repeats', `<p>${'{{Notes}}'.repeat(990)}</p>`],
    ['t-links', '<a href="{{Link}}?n={{Notes}}">x</a>'.repeat(400)],
  ] as const)
    await publishShopTemplate(database, shop, {
      id,
      sender: 'orders@shop.test',
      source: { subject: 'Subject', previewText: '', html, text: 'x', fields: {} },
    });
  const viewer = await as('viewer');
  const client = new SendClient(service, await getToken(service, shop));
  const bodyOf = (values: Readonly<Record<string, string>>) =>
    bodyWith({ content: { personalizationDataMap: values } });
  // Each of them takes five characters when escaped.
  const notes = "'".repeat(250_000);
  const attacks = Array.from({ length: 5 }, () => [
    client.send({ template: 't-repeats', body: bodyOf({ Notes: notes }) }),
    client.send({
      template: 't-links',
      body: bodyOf({ Link: 'https://shop.test/', Notes: notes }),
    }),
  ]).flat();
  const statuses = (await Promise.all(attacks)).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [...Array(5).fill(200), ...Array(5).fill(400)]);
  const preview = `${path}/templates/t-repeats/preview`;
  for (let at = 0; at < 3; at += 1) {
    // On a busy machine a preview can get a 503 and must be retried.
    const { body } = await waitFor('a preview', async () => {
      const response = await viewer.post(preview, { values: { Notes: notes } });
      return response.status !== 503 && response;
    });
    assert.equal(body.rendered, null);
  }
  await waitFor('the accepted ones to end', async () => {
    const { rows } = await database.pool.query('select from queued_delivery');
    return rows.length === 0;
  });
  assert.equal((await fetch(`${address}/readyz`)).status, 200);
  node.child.kill('SIGTERM');
  assert.equal(await node.exit, 0);
});
