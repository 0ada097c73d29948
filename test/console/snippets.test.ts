import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { curlWithKey, snippets } from '../../console/src/template/snippets.ts';
import { readInbox } from '../support/inbox-client.ts';
import { openManagedShop } from '../support/management-client.ts';
import { passwordFields } from '../support/session-world.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestService } from '../support/test-service.ts';
import { waitFor } from '../support/wait-for.ts';

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

const run = promisify(execFile);

/** How to run each example, and a probe for what it needs. */
const interpreters = {
  curl: ['sh', '-c', 'echo'],
  typescript: [process.execPath, '-e', '0'],
  python: ['python3', '-c', 'import requests'],
  php: ['php', '-r', 'curl_version();'],
} as const;

test('each example sends a template in another language, as it is shown', async (context) => {
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
  const credentials = passwordFields(shop.owner, shop.integration);
  const facts = { url: service.url, accountId: shop.id, templateId: 't-language', locale: 'de' };
  for (const id of ['curl', 'typescript', 'python', 'php'] as const) {
    await context.test(id, async (part) => {
      const values = { Name: `${id} O'Hara` };
      const code = snippets({ ...facts, values }).find((snippet) => snippet.id === id)?.code ?? '';
      const [program, option, probe] = interpreters[id];
      const found = await run(program, [option, probe]).then(
        () => true,
        () => false,
      );
      if (!found) return part.skip(`${program} or what it needs isn't installed`);
      const given = id === 'php' ? code.replace('<?php', '') : code;
      const script = id === 'typescript' ? ['--input-type=module', '-e', given] : [option, given];
      const { stdout } = await run(program, script, {
        env: {
          ...process.env,
          SIGNALPOST_USER: credentials.username,
          SIGNALPOST_PASSWORD: credentials.password,
          SIGNALPOST_CLIENT_ID: credentials.client_id,
          SIGNALPOST_SECRET: credentials.client_secret,
        },
      });
      assert.match(stdout, /messageId/);
      await waitFor('the mail', async () => {
        const mails = await readInbox(service.url, '?to=ada@customer.example');
        return mails.some(({ subject }) => subject === `Hallo ${id} O'Hara`);
      });
    });
  }
});
