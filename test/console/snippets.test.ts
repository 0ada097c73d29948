import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { curlWithKey } from '../../console/src/template/snippets.ts';
import { openManagedShop } from '../support/management-client.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';

const { database, url } = await createTestDatabase();
const service = await startTestService({ databaseUrl: url });
const { owner, path, shop } = await openManagedShop(database, service);

test('the command of a template with lists sends, as it is shown', async () => {
  const template = `${path}/templates/t-list`;
  await owner.put(template, { name: 'Receipt' });
  await owner.put(`${template}/draft`, {
    subject: 'Order {{Number}}',
    html: '<p>{{#Items}}{{Name}} {{#Taxes}}{{Rate}}{{/Taxes}}{{/Items}}</p>',
    sender: 'orders@shop.test',
    fields: {
      Number: { sample: "it's 1" },
      Items: {
        kind: 'list',
        fields: { Name: {}, Taxes: { kind: 'list', fields: { Rate: {} } } },
      },
    },
  });
  const published = await owner.post(`${template}/publish`, { force: true });
  assert.equal(published.status, 200, published.text);
  const version = await owner.get(`${template}/versions/1`);
  const fields = version.body.fields as { name: string; required: boolean; example: unknown }[];
  const required = fields.filter((field) => field.required);
  const values = Object.fromEntries(required.map(({ name, example }) => [name, example]));
  assert.ok(Array.isArray(values.Items), JSON.stringify(values));
  const key = await owner.post(`${path}/keys`, { name: 'Shop', scopes: ['messages:send'] });
  assert.equal(key.status, 201, key.text);
  const command = curlWithKey(
    { url: service.url, accountId: shop.id, templateId: 't-list', values },
    String(key.body.key),
  );
  const { stdout } = await promisify(execFile)('sh', ['-c', command.replace('curl', 'curl -s')]);
  assert.match(stdout, /"success":true/);
});
