import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { renderMessage } from '../../src/content/rendering/render-message.ts';
import { renderSubject } from '../../src/content/rendering/render-subject.ts';
import { findOversizedPart } from '../../src/content/template/size-bounds.ts';
import { compileTemplate } from '../../src/content/template/template-compiler.ts';
import type { TemplateSource } from '../../src/content/template/template-source.ts';
import { sampleValues } from '../../src/operating/management/template/sample-values.ts';
import { assertQuick } from '../support/assert-quick.ts';
import { loadSource } from '../support/render-template.ts';
import { bodyWith } from '../support/send-client.ts';
import { publishShopTemplate } from '../support/shop.ts';
import { openSharedShop } from '../support/test-shop.ts';
import { waitFor } from '../support/wait-for.ts';

const managed = await openSharedShop();
const { database, shop, client } = managed;
const viewer = await managed.as('viewer');

await publishShopTemplate(database, shop, {
  id: 't-repeats',
  sender: 'orders@shop.test',
  source: { html: `<p>${'{{Notes}}'.repeat(990)}</p>`, fields: {} },
});
await publishShopTemplate(database, shop, {
  id: 't-links',
  sender: 'orders@shop.test',
  source: { html: '<a href="{{Link}}?n={{Notes}}">x</a>'.repeat(400), text: 'x', fields: {} },
});

function bodyOf(values: Readonly<Record<string, string>>) {
  const personalizationDataMap = { 'Order Number': 'A-1', 'First Name': 'Ann', ...values };
  return bodyWith({ content: { personalizationDataMap } });
}

test('ASVS 4.0.3 11.1.4: a value that the template expands beyond the limit is rejected by name before the 200', async () => {
  const response = await client.send({
    template: 't-repeats',
    body: bodyOf({ Notes: 'n'.repeat(250_000) }),
  });
  assert.equal(response.status, 400, response.text);
  assert.equal(response.body.errorName, 'VALIDATION_FAILED');
  assert.deepEqual(response.body.details, [
    {
      field: 'content.personalizationDataMap.Notes',
      reason:
        'makes the HTML larger than 2 MiB: the template uses it 990 times; send a shorter value',
    },
  ]);
});

test('ASVS 4.0.3 11.1.4: the same template sends values that fit', async () => {
  const id = await client.accept({
    template: 't-repeats',
    body: bodyOf({ Notes: 'n'.repeat(2_000) }),
  });
  await waitFor('the message to be delivered', async () => {
    const { body } = await client.status(id);
    return body.state === 'delivered';
  });
});

test('ASVS 4.0.3 12.1.1: an accepted message that turns out too large ends with a reason that names limit and field', async () => {
  const id = await client.accept({
    template: 't-links',
    body: bodyOf({ Link: 'https://shop.test/', Notes: 'n'.repeat(200_000) }),
  });
  const events = await waitFor('the message to end', async () => {
    const { body } = await client.status(id);
    return body.state === 'bounced' && (body.events as Record<string, unknown>[]);
  });
  const bounced = events.find(({ kind }) => kind === 'bounced');
  assert.match(JSON.stringify(bounced), /the HTML would be larger than 2 MiB/);
  assert.match(JSON.stringify(bounced), /Notes, has 200000 characters and is used 400 times/);
  const { rows } = await database.pool.query('select from suppression where account_id = $1', [
    shop.id,
  ]);
  assert.equal(rows.length, 0, 'the recipient is not blamed for it');
});

test('ASVS 4.0.3 13.1.5: preview values that no message could have are rejected by name', async () => {
  const response = await viewer.post(`${managed.path}/templates/t-repeats/preview`, {
    values: { Notes: 'n'.repeat(200_000), Other: 'n'.repeat(100_000) },
  });
  assert.equal(response.status, 422, response.text.slice(0, 300));
  assert.deepEqual(response.body.errors, [
    {
      field: 'values.Notes',
      reason: 'has 200000 bytes; the limit for all values together is 262144',
    },
  ]);
});

test('ASVS 4.0.3 11.1.4: test messages have the same limits as the send operation', async () => {
  const response = await managed.owner.post(`${managed.path}/templates/t-repeats/test-send`, {
    to: 'me@shop.test',
    values: { Notes: 'n'.repeat(200_000) },
  });
  assert.equal(response.status, 422, response.text);
  assert.deepEqual(response.body.errors, [
    {
      field: 'values.Notes',
      reason: 'makes the HTML larger than 2 MiB: the template uses it 990 times',
    },
  ]);
});

test('ASVS 4.0.3 12.1.1: a preview that would need hundreds of megabytes returns a problem', async () => {
  const response = await viewer.post(`${managed.path}/templates/t-repeats/preview`, {
    values: { Notes: "'".repeat(250_000) },
  });
  assert.equal(response.status, 200, response.text.slice(0, 300));
  assert.equal(response.body.rendered, null);
  const [problem] = response.body.problems as { rule: string; message: string }[];
  assert.equal(problem?.rule, 'too-large');
  assert.match(problem?.message ?? '', /larger than 2 MiB; its largest field, Notes/);
});

/** Less than a second of a template's work with its largest values; asking for them again in each item took minutes. */
const assertBounded = (work: () => unknown): void => assertQuick(1_000, work);

const emptyItems = Array.from({ length: 500 }, () => ({ A: '' }));

test('ASVS 4.0.3 11.1.4: a long value costs its length once, however many items ask for it', async () => {
  const { compiled, ...template } = await loadSource({
    subject: 'Subject',
    html: `<p>x</p>${'{{#Items}}{{A}}{{#Notes}}{{/Notes}}{{/Items}}'.repeat(40)}`,
    fields: { Items: { kind: 'list' }, Notes: {} },
  });
  const values = { Notes: '\r'.repeat(125_000), Items: emptyItems };
  assertBounded(() => findOversizedPart(compiled, template.size, values, 262_144));
  assertBounded(() => renderMessage({ compiled, ...template }, { values }));
});

test('ASVS 4.0.3 11.1.4: a telephone number that is empty costs its length once, however many links have it', async () => {
  const template = await loadSource({
    subject: 'Subject',
    html: `<p>x${'{{#Items}}<a href="tel:{{Notes}}">x</a>{{/Items}}'.repeat(20)}</p>`,
    fields: { Items: { kind: 'list' }, Notes: {} },
  });
  const values = { Notes: ' '.repeat(250_000), Items: emptyItems };
  assertBounded(() => renderMessage(template, { values }));
});

test('ASVS 4.0.3 11.1.4: the subjects of a page cost little, whatever their lists show', async () => {
  const template = await loadSource({
    subject: `x{{#Items}}${'{{^N}}{{/N}}'.repeat(160)}{{/Items}}`,
    html: '<p>{{N}}x</p>',
    fields: { Items: { kind: 'list' }, N: {} },
  });
  const values = { N: '\ra'.repeat(500), Items: emptyItems };
  assertBounded(() => {
    for (let message = 0; message < 500; message += 1) renderSubject(template, { values });
  });
});

test('ASVS 4.0.3 11.1.4: a caller who invents names keeps nobody from publishing, however many and long they are', async () => {
  await publishShopTemplate(database, shop, { id: 't-names', sender: 'orders@shop.test' });
  const invented = Array.from({ length: 10_000 }, (_, at) => [`k${at}`, ''] as const);
  const long = ['a[].'.repeat(20_000), ''] as const;
  const body = bodyOf(Object.fromEntries([long, ...invented]));
  assert.equal((await client.send({ template: 't-names', body })).status, 200);
  const counted = await waitFor('the call to be recorded', async () => {
    const { rows } = await sql<{ names: number; longest: number }>`
      select cardinality(fields) as names, (select max(length(name)) from unnest(fields) name) as longest
      from template_call where template_id = 't-names'`.execute(database.kysely);
    return rows[0];
  });
  assert.ok(counted.names <= 500 && counted.longest <= 120, JSON.stringify(counted));
  // As an earlier release recorded them.
  await sql`insert into template_call
    (account_id, template_id, shape, fields, own_subject, own_preview, last_at, last_message_id)
    select account_id, template_id, sha256('x'), array_append(fields, ${long[0]}), own_subject, own_preview, last_at,
      last_message_id from template_call where template_id = 't-names'`.execute(database.kysely);
  const template = `${managed.path}/templates/t-names`;
  const rolledBack = await managed.owner.post(`${template}/roll-back`, { version: 1 });
  assert.equal(rolledBack.status, 200, JSON.stringify(rolledBack.body));
});

test('ASVS 4.0.3 11.1.4: samples are filled in only as far as a page can show, whatever lists stand in lists', async () => {
  const sample = Array.from({ length: 500 }, () => ({}));
  const list = (fields: TemplateSource['fields']) => ({ kind: 'list', sample, fields }) as const;
  const texts = Array.from({ length: 200 }, (_, at) => [`T${at}`, { sample: 'x'.repeat(3_900) }]);
  for (const fields of [
    { A: list({ B: list({ C: list({ T: {} }) }) }) },
    { A: list(Object.fromEntries(texts)) },
  ]) {
    const content = { subject: 'Subject', html: '<p>x</p>', fields } as const;
    const result = await compileTemplate(content);
    assert.ok(result.compiled !== null, JSON.stringify(result.problems));
    assertBounded(() => {
      const examples = sampleValues(result, content as never);
      assert.ok(JSON.stringify(examples).length < 3 * 1024 * 1024);
    });
  }
});

test('a template keeps at most 1,000 names of secret fields that no owner has revealed', async () => {
  const template = `${managed.path}/templates/t-secrets`;
  const secret = (name: string) => ({
    subject: 'Subject',
    html: `<p>{{${name}}}</p>`,
    sender: 'orders@shop.test',
    fields: { [name]: { secret: true } },
  });
  const publish = async (name: string) => {
    assert.ok((await managed.owner.put(`${template}/draft`, secret(name))).status < 300);
    return await managed.owner.post(`${template}/publish`, {});
  };
  await managed.owner.put(template, { name: 'Secrets' });
  assert.equal((await publish('First')).status, 200);
  await sql`insert into template_secret (account_id, template_id, name)
    select ${shop.id}, 't-secrets', 's' || n from generate_series(1, 999) n`.execute(
    database.kysely,
  );
  const refused = await publish('Second');
  assert.equal(refused.status, 409, JSON.stringify(refused.body));
  assert.match(String(refused.body.detail), /A template can have 1,000 unrevealed secret fields/);
  await sql`update template_secret set revealed_at = now() where account_id = ${shop.id} and name = 's7'`.execute(
    database.kysely,
  );
  const published = await publish('Second');
  assert.equal(published.status, 200, JSON.stringify(published.body));
});
