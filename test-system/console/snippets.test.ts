import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { markTokens } from '../../console/src/components/mark-tokens.ts';
import { curlWithKey, snippets } from '../../console/src/template/snippets.ts';
import { addKey } from '../../test/support/api-key.ts';
import { createClientApp } from '../../test/support/client-app.ts';
import { readInbox } from '../../test/support/inbox-client.ts';
import { openManagedShop } from '../../test/support/management-client.ts';
import { runSnippet } from '../../test/support/run-snippet.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService } from '../../test/support/test-service.ts';

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

test('each example sends a template in another language with an attachment, as it is shown', async (context) => {
  const template = `${path}/templates/t-language`;
  await owner.put(template, { name: 'Letter' });
  await owner.put(`${template}/draft`, {
    subject: 'Hello {{Name}}',
    text: 'Hello {{Name}}',
    sender: 'orders@shop.test',
    locale: 'en',
    variants: { de: { subject: 'Hallo {{Name}}', text: 'Hallo {{Name}}' } },
  });
  const published = await owner.post(`${template}/publish`, { force: true });
  assert.equal(published.status, 200, published.text);
  const key = await addKey(database, shop.id);
  const app = await createClientApp();
  const facts = { url: service.url, accountId: shop.id, templateId: 't-language', locale: 'de' };
  // The others need programs beyond npm: test-long/client/languages.test.ts runs them.
  for (const id of ['curl', 'typescript'] as const) {
    await context.test(id, async () => {
      const values = { Name: `${id} O'Hara` };
      const to = `${id}@customer.example`;
      const found = snippets({ ...facts, values, to, attached: true }, key);
      const response = await runSnippet(found, id, app.folder);
      assert.match(response, /messageId|^[0-9a-f-]{36}$/m);
      const [mail] = await readInbox(service.url, `?to=${to}&wait=60`);
      assert.equal(mail?.subject, `Hallo ${id} O'Hara`);
      assert.match(mail?.source ?? '', /filename="?document\.pdf/);
    });
  }
});

test('without a key, the examples say where it belongs', () => {
  const facts = { url: 'https://mail.test', accountId: '1', templateId: 't', values: {} };
  for (const { id, code, run } of snippets(facts, undefined))
    assert.match(
      run ?? code,
      id === 'curl' ? /^export SIGNALPOST_API_KEY='sp_…'\n/ : /^SIGNALPOST_API_KEY='sp_…' \S/,
    );
});

test('strings, names of JSON and comments are marked; the code stays as it is', () => {
  const code = `# it's a note\ncurl 'https://mail.test/#1' -d '{\n  "to": "a \\"b\\""\n}'`;
  const parts = markTokens(code);
  assert.equal(parts.map(({ text }) => text).join(''), code);
  assert.deepEqual(
    parts.flatMap(({ kind, text }) => (kind === undefined ? [] : [[kind, text]])),
    [
      ['comment', "# it's a note"],
      ['string', "'https://mail.test/#1'"],
      ['name', '"to"'],
      ['string', '"a \\"b\\""'],
    ],
  );
});
