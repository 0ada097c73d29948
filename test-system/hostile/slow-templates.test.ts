import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileTemplate, TemplateCompiler } from '../../src/content/template/template-compiler.ts';
import { openManagedShop } from '../../test/support/management-client.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { startTestService } from '../../test/support/test-service.ts';
import { endless } from '../support/endless-template.ts';

const { database, url } = await createTestDatabase();
const service = await startTestService({ databaseUrl: url });
const managed = await openManagedShop(database, service);
const viewer = await managed.as('viewer');

test('ASVS 4.0.3 11.1.4: slow previews block neither the process nor other accounts', async () => {
  let done = 0;
  const slow = Array.from({ length: 8 }, async () => {
    const preview = `${managed.path}/templates/t-0001/preview`;
    const response = await viewer.post(preview, { content: endless });
    if (response.status === 200) done += 1;
    return response;
  });
  const other = await openManagedShop(database, service, '46300');
  const quick = await other.owner.post(`${other.path}/templates/t-0001/preview`, {});
  assert.equal(quick.status, 200, quick.text);
  assert.ok(quick.body.rendered !== null);
  assert.ok(done <= 2, 'it does not wait until all that came before are done');
  const responses = await Promise.all(slow);
  const refused = responses.filter(({ status }) => status === 503);
  assert.ok(refused.length >= 3, 'one is under way, and what has waited for 20 seconds is refused');
  for (const response of refused) {
    assert.equal(response.body.type, '/problems/busy');
    assert.equal(response.headers.get('retry-after'), '2');
  }
  const rules = responses
    .filter(({ status }) => status === 200)
    .map(({ body }) => (body.problems as { rule: string }[])[0]?.rule);
  assert.ok(rules.includes('too-slow'), JSON.stringify(rules));
});

test('ASVS 4.0.3 11.1.4: an account that compiles constantly leaves a thread to others', async () => {
  const compiler = new TemplateCompiler(3_000);
  let done = 0;
  const slow = ['B', 'B', 'B'].map(async (account) => {
    await compiler.compile(endless, account);
    done += 1;
  });
  const { compiled } = await compiler.compile({ subject: 'Subject', text: 'Hello' }, 'A');
  assert.ok(compiled !== null);
  assert.ok(done <= 1, 'it does not wait until all that came before are given up');
  await Promise.allSettled(slow);
});

test('ASVS 4.0.3 12.1.1: a template whose sections are larger than a message can be is not compiled', async () => {
  const texts = '<mj-text>x</mj-text>'.repeat(150);
  const { compiled, problems } = await compileTemplate({
    subject: 'Subject',
    mjml: `<mjml><mj-head><mj-attributes><mj-text font-family="${'a'.repeat(20_000)}"/></mj-attributes></mj-head><mj-body><mj-section><mj-column><mj-raw>{{#A}}</mj-raw>${texts}<mj-raw>{{/A}}</mj-raw></mj-column></mj-section></mj-body></mjml>`,
  });
  assert.equal(compiled, null);
  assert.ok(
    problems.some(({ rule }) => rule === 'too-large'),
    JSON.stringify(problems),
  );
});
