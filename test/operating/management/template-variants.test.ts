import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportManifest, noFiles } from '../../../src/operating/manifest/export-manifest.ts';
import { readInbox } from '../../support/inbox-client.ts';
import { bodyWith } from '../../support/send-client.ts';
import { openSharedShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const { database, service, shop, owner, path, client: sender } = await openSharedShop();

const content = {
  subject: 'Invoice {{No}}',
  html: '<p>Due {{date "long" Due}}</p>',
  sender: 'orders@shop.test',
  fields: { Due: { sample: '2026-01-31' }, Greeting: { sample: 'Hallo' } },
  locale: 'en',
  variants: {
    de: { subject: 'Rechnung {{No}}', text: '{{Greeting}}! Bis {{date "long" Due}}' },
    'fr-CA': { subject: 'Facture {{No}}', mjml: '<mjml><mj-body></mj-body></mjml>' },
  },
};

async function draft(id: string, body: object): Promise<string> {
  const template = `${path}/templates/${id}`;
  await owner.put(template, { name: id });
  const saved = await owner.put(`${template}/draft`, body);
  assert.ok(saved.status < 300, saved.text);
  return template;
}

async function publish(id: string, body: object): Promise<string> {
  const template = await draft(id, body);
  const published = await owner.post(`${template}/publish`, { force: true });
  assert.equal(published.status, 200, published.text);
  return template;
}

test('a version has its variants, before and after it is published', async () => {
  const template = await draft('t-version', content);
  const saved = (await owner.get(`${template}/draft`)).body.content;
  assert.deepEqual(saved, content);
  assert.equal((await owner.post(`${template}/publish`, {})).body.version, 1);
  const { body } = await owner.get(`${template}/versions/1`);
  assert.deepEqual(body.content, { ...content, freshnessMinutes: 15 });
  assert.deepEqual(body.locales, ['de', 'fr-CA']);
  const used = body.fields as { name: string; parts: string[]; required: boolean }[];
  assert.deepEqual(
    used.map(({ name, parts, required }) => [name, [...parts].sort(), required]).sort(),
    [
      ['Due', ['html', 'text'], true],
      ['Greeting', ['text'], true],
      ['No', ['subject'], true],
    ],
  );
  await owner.put(`${template}/draft`, content);
  assert.equal((await owner.post(`${template}/publish`, {})).body.version, 1);
  const { variants: _, ...plain } = content;
  await owner.put(`${template}/draft`, plain);
  assert.equal((await owner.post(`${template}/publish`, {})).body.version, 2);
  const { items } = (await owner.get(`${template}/versions`)).body as {
    items: { version: number; locales: string[] }[];
  };
  assert.deepEqual(
    items.map(({ version, locales }) => [version, locales]),
    [
      [2, []],
      [1, ['de', 'fr-CA']],
    ],
  );
  assert.equal((await owner.post(`${template}/roll-back`, { version: 1 })).status, 200);
  assert.equal(await subjectFor('t-version', 'de-AT'), 'Rechnung 7');
});

let count = 0;

async function subjectFor(template: string, locale: string): Promise<string | undefined> {
  count += 1;
  const toAddress = `reader${count}@people.test`;
  await sender.accept({
    template,
    body: bodyWith({
      envelope: { toAddress },
      content: {
        personalizationDataMap: { No: '7', Due: '2026-01-31', Greeting: 'Hi' },
        locale,
      },
    }),
  });
  const [mail] = await readInbox(service.url, `?to=${toAddress}&wait=60`);
  return mail?.subject;
}

test('a problem of a variant names it and its field when the draft is published', async () => {
  const bad = {
    ...content,
    variants: { de: { subject: '{{Nummer}}', html: '<p>{{</p>' }, en: { subject: 's', text: 't' } },
  };
  const template = await draft('t-bad', bad);
  const first = await owner.post(`${template}/publish`, {});
  assert.equal(first.status, 422);
  assert.match(first.text, /the locale en is that of the default content/);
  const { en: _, ...variants } = bad.variants;
  await owner.put(`${template}/draft`, { ...bad, variants });
  const second = await owner.post(`${template}/publish`, {});
  assert.match(second.text, /"variants\.de\.html".*a tag is not closed/);
  await owner.put(`${template}/draft`, {
    ...bad,
    variants: { de: { subject: '{{Nummer}}', text: 't' } },
  });
  const third = await owner.post(`${template}/publish`, {});
  assert.equal(third.status, 422);
  assert.match(
    third.text,
    /"variants\.de\.subject".*uses the field Nummer, which the default content doesn’t have/,
  );
});

test('a preview shows the variant for a locale, and checks only that one', async () => {
  const template = await draft('t-preview', {
    ...content,
    variants: { ...content.variants, es: { subject: '{{Desconocido}}', text: 't' } },
  });
  const preview = async (body: object) => {
    const response = await owner.post(`${template}/preview`, body);
    assert.equal(response.status, 200, response.text);
    return response.body as {
      variant: string | null;
      rendered: { subject: string; text: string; html: string | null } | null;
      problems: { variant?: string; part: string; message: string }[];
    };
  };
  const own = await preview({});
  assert.deepEqual([own.variant, own.rendered?.subject], [null, 'Invoice {{No}}']);
  assert.deepEqual(own.problems, []);
  const german = await preview({ locale: 'de-AT', values: { No: '1', Due: '2026-01-01' } });
  assert.deepEqual([german.variant, german.rendered?.subject], ['de', 'Rechnung 1']);
  assert.equal(german.rendered?.text, 'Hallo! Bis 1. Jänner 2026');
  const spanish = await preview({ locale: 'es' });
  assert.deepEqual([spanish.variant, spanish.rendered], ['es', null]);
  assert.deepEqual(
    spanish.problems.map(({ variant, part }) => [variant, part]),
    [['es', 'subject']],
  );
  const bad = await owner.post(`${template}/preview`, { locale: 'de_AT' });
  assert.equal(bad.status, 422);
  assert.match(bad.text, /locale.*BCP 47/);
});

test('a test message is sent in the locale that is asked for', async () => {
  const template = await draft('t-test', content);
  const test = async (to: string, locale?: string) => {
    const response = await owner.post(`${template}/test-send`, { to, locale });
    assert.equal(response.status, 202, response.text);
    const [mail] = await readInbox(service.url, `?to=${to}&wait=60`);
    return { mail, id: String(response.body.messageId) };
  };
  const german = await test('test-de@people.test', 'de');
  assert.equal(german.mail?.subject, 'Rechnung No');
  assert.equal((await test('test-en@people.test')).mail?.subject, 'Invoice No');
  const shown = await owner.get(`${path}/messages/${german.id}`);
  assert.equal((shown.body.content as { locale: string }).locale, 'de');
  const rendered = await owner.get(`${path}/messages/${german.id}/rendered`);
  assert.equal(rendered.body.text, 'Hallo! Bis 31. Januar 2026');
  const again = await owner.post(`${path}/messages/${german.id}/resend`);
  assert.equal(again.status, 201, again.text);
  const copy = await owner.get(`${path}/messages/${again.body.messageId}`);
  assert.equal((copy.body.content as { locale: string }).locale, 'de');
  assert.equal(
    (await owner.post(`${template}/test-send`, { to: 'a@b.test', locale: '-' })).status,
    422,
  );
  await owner.put(`${template}/draft`, {
    ...content,
    variants: { es: { subject: '{{Nuevo}}', text: 't' } },
  });
  const broken = await owner.post(`${template}/test-send`, { to: 'a@b.test' });
  assert.equal(broken.status, 409);
  assert.match(broken.text, /The variant es has errors/);
});

test('messages are listed by the language or locale of their request', async () => {
  await publish('t-list', content);
  for (const locale of ['de', 'de-AT', 'den', 'fr']) await subjectFor('t-list', locale);
  const list = async (locale: string) => {
    const response = await owner.get(`${path}/messages?templateId=t-list&locale=${locale}`);
    assert.equal(response.status, 200, response.text);
    return (response.body.items as unknown[]).length;
  };
  await waitFor('the list to have the messages', async () => (await list('de')) === 2);
  assert.equal(await list('DE-at'), 1);
  assert.equal(await list('en'), 0);
  assert.equal((await owner.get(`${path}/messages?locale=de_AT`)).status, 422);
});

test('an export has the variants, and applying it again changes nothing', async () => {
  await publish('t-export', content);
  const manifest = await exportManifest(database.kysely, noFiles);
  const exported = manifest.accounts
    .find(({ id }) => id === shop.id)
    ?.templates?.find(({ id }) => id === 't-export');
  assert.deepEqual(exported?.variants, content.variants);
  assert.equal(exported?.locale, 'en');
});

test('a version can have 50 variants and not one more', async () => {
  const withVariants = (length: number) => ({
    subject: 's',
    text: 't',
    variants: Object.fromEntries(
      Array.from({ length }, (_, n) => [`de-x-v${n}`, { subject: `v${n}`, text: 't' }]),
    ),
  });
  const template = await publish('t-most', withVariants(50));
  await owner.put(`${template}/draft`, withVariants(51));
  const refused = await owner.post(`${template}/publish`, {});
  assert.equal(refused.status, 422);
  assert.deepEqual(refused.body.errors, [
    { field: 'variants', reason: 'has more than 50 variants' },
  ]);
});

test('the sources of a version can have 2,097,152 characters together and not one more', async () => {
  const part = (length: number) => ({ subject: 's', text: 'x'.repeat(length - 1) });
  const half = 512 * 1024;
  const sized = (more: number) => ({
    ...part(half),
    variants: { de: part(half), fr: part(half), es: part(half + more) },
  });
  const template = await publish('t-size', sized(0));
  const saved = await owner.put(`${template}/draft`, sized(1));
  assert.equal(saved.status, 201, saved.text.slice(0, 500));
  const refused = await owner.post(`${template}/publish`, {});
  assert.equal(refused.status, 422);
  assert.deepEqual(refused.body.errors, [
    {
      field: 'variants',
      reason: 'the default content and its variants are longer than 2097152 characters together',
    },
  ]);
});

test('a report counts messages by the variant that was sent, also as CSV', async () => {
  await publish('t-report', content);
  for (const locale of ['de-AT', 'de', 'fr', 'en-GB']) await subjectFor('t-report', locale);
  const until = new Date(Date.now() + 86_400_000).toISOString();
  const query = `from=2026-01-01T00:00:00Z&until=${until}&templateId=t-report`;
  const report = async (more: string) => {
    const { body } = await owner.get(`${path}/reports?${query}&${more}`);
    const rows = body.rows as { key: string; counts: { accepted: number; delivered: number } }[];
    return rows.map(({ key, counts }) => [key, counts.accepted, counts.delivered]);
  };
  await waitFor('the counts', async () => {
    const rows = await report('group=none');
    return rows[0]?.[2] === 4;
  });
  assert.deepEqual(await report('group=locale'), [
    ['de', 2, 2],
    ['default', 2, 2],
  ]);
  assert.deepEqual(await report('group=template&locale=DE'), [['t-report', 2, 2]]);
  assert.deepEqual(await report('group=none&locale=default'), [['', 2, 2]]);
  assert.deepEqual(await report('locale=fr-CA'), []);
  const csv = await owner.get(`${path}/reports-export?${query}&group=locale`);
  assert.match(
    csv.text,
    /^locale,accepted,[^\n]+\r\nde,2,2,[^\n]+,,,\r\ndefault,2,2,[^\n]+,,,\r\n$/,
  );

  for (const [more, field] of [
    ['locale=de&tag=a', 'locale'],
    ['locale=de&group=sender', 'locale'],
    ['group=locale&senderDomain=shop.test', 'group'],
    ['locale=not_a_locale', 'locale'],
    [`locale=${'a'.repeat(36)}`, 'locale'],
  ] as const) {
    const response = await owner.get(`${path}/reports?${query}&${more}`);
    assert.equal(response.status, 422, more);
    assert.match(response.text, new RegExp(`"${field}"`), more);
  }
  const destinations = query.replace('templateId=t-report', 'group=destination');
  const response = await owner.get(`${path}/reports?${destinations}&locale=de`);
  assert.match(response.text, /destinations are counted separately/);
});
