import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TemplateSource } from '../../../src/content/template/template-source.ts';
import { addKey } from '../../support/api-key.ts';
import { addressesIn, FeedbackShop } from '../../support/feedback-shop.ts';
import { readInbox } from '../../support/inbox-client.ts';
import { bodyWith, SendClient } from '../../support/send-client.ts';
import { sendRequest } from '../../support/send-request.ts';
import { publishShopTemplate } from '../../support/shop.ts';

const world = await FeedbackShop.open();
const { database, service, shop, clock } = world;
const key = await addKey(database, shop.id);
const client = new SendClient(service, key);
const values = { Due: '2026-01-31', Total: '1234.5' };

const source: TemplateSource = {
  subject: 'Invoice',
  previewText: '',
  html: '<p>Due {{date "long" Due}}: {{currency "EUR" Total}} <a href="https://shop.test/en?d={{Due}}">Pay</a></p>',
  fields: {},
  variants: {
    de: {
      subject: 'Rechnung',
      html: '<p><a href="https://shop.test/impressum">x</a>Bis {{date "long" Due}}: {{currency "EUR" Total}} <a href="https://shop.test/de?d={{Due}}">Zahlen</a></p>',
    },
    'pt-BR': { subject: 'Fatura', text: 'Até {{date "long" Due}}' },
  },
};

await publish('invoice', source);

function publish(id: string, content: TemplateSource): Promise<number> {
  // Without the parts that a template of the shop has otherwise.
  const own = { previewText: '', html: undefined, ...content } as TemplateSource;
  return publishShopTemplate(database, shop, { id, sender: 'orders@shop.test', source: own });
}

let count = 0;

async function accept(
  locale: unknown,
  { template = 'invoice', actions = {}, by = client, content = {} } = {},
) {
  count += 1;
  const toAddress = `reader${count}@people.test`;
  const response = await by.send({
    template,
    body: bodyWith({
      envelope: { toAddress },
      content: { personalizationDataMap: values, locale, ...content },
      actions: { trackOpens: false, trackClicks: false, ...actions },
    }),
  });
  return { response, toAddress };
}

async function mailTo(address: string) {
  const [mail] = await readInbox(service.url, `?to=${encodeURIComponent(address)}&wait=60`);
  assert.ok(mail, `no mail to ${address}`);
  const text = (mail.text ?? '').replace(/[\u00a0\u202f]/g, ' ').trim();
  return { ...mail, text };
}

async function send(locale: unknown, options?: Parameters<typeof accept>[1]) {
  const { response, toAddress } = await accept(locale, options);
  assert.equal(response.status, 200, response.text);
  return { ...(await mailTo(toAddress)), messageId: String(response.body.messageId) };
}

test('the variant that matches best is sent, and dates and amounts are in its language', async () => {
  for (const [locale, subject, text] of [
    [undefined, 'Invoice', /^Due January 31, 2026: €1,234.50/],
    ['', 'Invoice', /^Due January 31, 2026/],
    ['fr', 'Invoice', /^Due January 31, 2026: €1,234.50/],
    ['en-GB', 'Invoice', /^Due 31 January 2026: €1,234.50/],
    ['de', 'Rechnung', /Bis 31. Januar 2026: 1.234,50 €/],
    ['DE-at', 'Rechnung', /Bis 31. Jänner 2026: € 1 ?\.?234,50/],
    ['pt-BR', 'Fatura', /^Até 31 de janeiro de 2026$/],
    ['pt', 'Invoice', /^Due January/],
  ] as const) {
    const mail = await send(locale);
    assert.equal(mail.subject, subject, `${locale}`);
    assert.match(mail.text, text, `${locale}`);
  }
});

test('a template says which language its own content is in', async () => {
  await publish('german', { ...source, ...source.variants?.de, locale: 'de', variants: {} });
  assert.match((await send(undefined, { template: 'german' })).text, /31. Januar 2026/);
  assert.match((await send('de-AT', { template: 'german' })).text, /31. Jänner 2026/);
  assert.match((await send('en', { template: 'german' })).text, /31. Januar 2026/);
});

test('the locale of the default content is matched, too', async () => {
  const { de = assert.fail() } = source.variants ?? {};
  await publish('regions', { ...source, ...de, locale: 'de-CH', variants: { de } });
  const { rows } = await database.pool.query(
    "select count(*)::int as n from template_variant where template_id = 'regions'",
  );
  assert.deepEqual(rows, [{ n: 1 }]);
  assert.match((await send('de-CH-1996', { template: 'regions' })).text, /EUR 1.234.50/);
  assert.match((await send('de-LI', { template: 'regions' })).text, /Bis 31. Januar/);
});

test('a locale that is no language tag, or too long, is refused by name, with a token and a key', async () => {
  const reason = 'must be a BCP 47 language tag of at most 35 characters, such as de or pt-BR';
  const longest = 'de-Latn-AT-1901-abcde-abcdef-ghijkl';
  for (const by of [client, world.client]) {
    for (const [locale, expected] of [
      ['de_AT', reason],
      ['*', reason],
      ['x', reason],
      [`${longest}g`, 'must not be longer than 35 characters'],
      [7, 'must be a string'],
      [null, 'must be a string'],
    ]) {
      const { response } = await accept(locale, { by });
      assert.equal(response.status, 400);
      assert.equal(response.body.errorName, 'VALIDATION_FAILED');
      assert.deepEqual(response.body.details, [{ field: 'content.locale', reason: expected }]);
    }
    assert.equal((await accept(longest, { by })).response.status, 200);
    const both = await accept('de_AT', { by, content: { subjectLine: 7 } });
    assert.deepEqual(
      (both.response.body.details as { field: string }[]).map(({ field }) => field).sort(),
      ['content.locale', 'content.subjectLine'],
    );
  }
});

test('every locale needs the same fields', async () => {
  await publish('contract', {
    subject: '{{Salutation}}',
    text: 'x',
    fields: { Salutation: {}, Due: {} },
    variants: { de: { subject: 's', text: '{{date "long" Due}}' } },
  });
  const send = (locale: string | undefined, given: object) =>
    accept(locale, { template: 'contract', content: { personalizationDataMap: given } });
  for (const locale of [undefined, 'de', 'fr']) {
    const none = await send(locale, {});
    assert.equal(none.response.body.errorName, 'PERSONALIZATION_FAILURE');
    assert.deepEqual(
      (none.response.body.details as { field: string }[]).map(({ field }) => field).sort(),
      ['content.personalizationDataMap.Due', 'content.personalizationDataMap.Salutation'],
    );
    const unreadable = await send(locale, { Salutation: 'x', Due: 'soon' });
    assert.equal(unreadable.response.body.errorName, 'VALIDATION_FAILED');
    assert.equal((await send(locale, { Salutation: 'x', Due: '2026-01-31' })).response.status, 200);
  }
});

test('a subject line and preview text of the request are filled in with the variant', async () => {
  const content = {
    subjectLine: 'Am {{date "long" Due}}',
    previewText: '{{currency "EUR" Total}}',
  };
  const mail = await send('de', { content });
  assert.equal(mail.subject, 'Am 31. Januar 2026');
  assert.match((mail.html ?? '').replaceAll('\u00a0', ' '), />1.234,50 €&#847;/);
});

test('tracked links lead where those of the variant lead', async () => {
  const tracked = { actions: { trackClicks: true } };
  for (const [locale, targets] of [
    ['de-AT', ['https://shop.test/impressum', 'https://shop.test/de?d=2026-01-31']],
    ['fr', ['https://shop.test/en?d=2026-01-31']],
  ] as const) {
    const { html } = await send(locale, tracked);
    const found: (string | null)[] = [];
    for (const address of addressesIn(html, 'href')) {
      const { status, headers } = await sendRequest(address, { redirect: 'manual' });
      if (status === 302) found.push(headers.get('location'));
    }
    assert.deepEqual(found, targets);
  }
});

test('a part that a variant makes too large is refused, whatever the default content is', async () => {
  await publish('large', {
    subject: 's',
    text: '{{Text}}',
    variants: { de: { subject: 's', text: '{{Text}}'.repeat(20) } },
  });
  const content = { personalizationDataMap: { Text: 'x'.repeat(120 * 1024) } };
  const german = await accept('de', { template: 'large', content });
  assert.equal(german.response.status, 400);
  assert.match(german.response.text, /personalizationDataMap.Text.*template uses it 20 times/);
  assert.equal((await accept('fr', { template: 'large', content })).response.status, 200);
});

test('each message of a batch has its own locale', async () => {
  const message = (locale: unknown, toAddress: string) =>
    bodyWith({
      envelope: { toAddress },
      content: { personalizationDataMap: values, locale },
      actions: { trackOpens: false, trackClicks: false },
    });
  const response = await sendRequest(`${service.url}/ete/v1/email/${shop.id}/invoice/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({
      messages: [
        message('de', 'batch-de@people.test'),
        message('d', 'batch-bad@people.test'),
        message(undefined, 'batch-en@people.test'),
      ],
    }),
  });
  const results = response.body.results as { status: number; details?: unknown }[];
  assert.deepEqual(
    results.map(({ status }) => status),
    [200, 400, 200],
  );
  assert.match(JSON.stringify(results[1]?.details), /content\.locale/);
  assert.equal((await mailTo('batch-de@people.test')).subject, 'Rechnung');
  assert.equal((await mailTo('batch-en@people.test')).subject, 'Invoice');
});

test('a message with `templateVersion: due` gets the variant of the version that is due', async () => {
  const due = (text: string): TemplateSource => ({
    subject: 's',
    text,
    variants: { de: { subject: 's', text: `${text} de` } },
  });
  await publish('due', due('one'));
  const sendAt = new Date(clock.now() + 3_600_000).toISOString();
  const at = (templateVersion: string) => ({
    template: 'due',
    actions: { sendAt, templateVersion },
  });
  const now = await accept('de-CH', at('due'));
  const before = await accept('de-CH', at('accepted'));
  const other = await accept('fr', at('due'));
  await publish('due', due('two'));
  await clock.advance(3_601_000);
  assert.equal((await mailTo(now.toAddress)).text, 'two de');
  assert.equal((await mailTo(before.toAddress)).text, 'one de');
  assert.equal((await mailTo(other.toAddress)).text, 'two');
});

test('a new version takes its variants with it, and its predecessor keeps its own', async () => {
  const content = (name: string): TemplateSource => ({
    subject: name,
    text: 't',
    variants: { de: { subject: `${name} de`, text: 't' } },
  });
  await publish('versions', content('one'));
  assert.equal((await send('de', { template: 'versions' })).subject, 'one de');
  await publish('versions', { subject: 'two', text: 't' });
  const { rows } = await database.pool.query(
    "select version, locale from template_variant where template_id = 'versions' order by 1",
  );
  assert.deepEqual(rows, [{ version: 1, locale: 'de' }]);
  for (let attempt = 0; attempt < 50; attempt += 1) {
    if ((await send('de', { template: 'versions' })).subject === 'two') return;
  }
  assert.fail('the new version is not used');
});
