import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileVersion } from '../../../src/content/template/compile-version.ts';
import { localizeVersion } from '../../../src/content/template/locale.ts';
import { missingFields } from '../../../src/content/template/template-fields.ts';
import { MAX_VARIANTS, MAX_VERSION_LENGTH } from '../../../src/content/template/template-limits.ts';
import type { TemplateSource } from '../../../src/content/template/template-source.ts';

const base: TemplateSource = { subject: 'Order {{No}}', text: 'Hello {{Name}}' };

async function compile(source: TemplateSource) {
  const result = await compileVersion({ source });
  const texts = result.problems.map(
    ({ severity, variant = '-', part, rule, message }) =>
      `${severity} ${variant} ${part} ${rule}: ${message}`,
  );
  return { ...result, texts };
}

test('the fields of a version are those of all its contents together', async () => {
  const { compiled, texts } = await compile({
    ...base,
    fields: { Due: {}, Unused: {}, Items: { kind: 'list', fields: { Price: {} } } },
    variants: {
      de: { subject: 'Bestellung', text: 'Bis {{date "long" Due}} {{#Items}}{{Price}}{{/Items}}' },
      fr: { subject: 'Commande {{No}}', text: 'Bonjour' },
    },
  });
  assert.deepEqual(texts, [
    'warning - fields unused-field: the field Unused is not used in the template',
  ]);
  assert.ok(compiled !== null);
  assert.deepEqual(compiled.locales, ['de', 'fr']);
  assert.deepEqual(missingFields(compiled, { Items: [{}] }).sort(), [
    'Due',
    'Items[0].Price',
    'Name',
    'No',
  ]);
  assert.deepEqual(
    compiled.uses?.body.formatted.map(({ name }) => name),
    ['Due'],
  );
  const german = localizeVersion(compiled, 'de-AT');
  assert.equal(german.locale, 'de');
  assert.deepEqual(german.subject, ['Bestellung']);
  assert.equal(german.fields, compiled.fields);
  assert.deepEqual(localizeVersion(compiled, 'es').subject, compiled.subject);
});

test('a variant that uses a field which the default content lacks is refused by name', async () => {
  const { compiled, texts } = await compile({
    ...base,
    fields: { Items: { kind: 'list', fields: { Price: {} } } },
    variants: {
      de: {
        subject: 'Bestellung {{Nr}} {{No}}',
        mjml: '<mjml><mj-body><mj-raw>{{#Items}}{{Preis}}{{/Items}}{{Unsubscribe Link}}</mj-raw></mj-body></mjml>',
      },
    },
  });
  assert.equal(compiled, null);
  const advice = 'which the default content doesn’t have; declare it under fields';
  assert.deepEqual(texts, [
    `error de subject foreign-field: uses the field Nr, ${advice}`,
    `error de mjml foreign-field: uses the field Items.Preis, ${advice}`,
  ]);
});

test('a name means in a variant what it means in the default content', async () => {
  const { compiled, texts } = await compile({
    subject: 's',
    text: '{{Currency}}{{#Items}}{{Price}} {{Currency}}{{/Items}}',
    fields: { Items: { kind: 'list', fields: { Price: {} } } },
    variants: { de: { subject: 's', text: '{{#Items}}{{Price}} {{Currency}}{{/Items}}' } },
  });
  assert.deepEqual(texts, []);
  assert.deepEqual(missingFields(compiled ?? assert.fail(), { Items: [{ Price: '1' }] }), [
    'Currency',
  ]);
});

test('problems of a variant name it, and those of the fields are reported once', async () => {
  const { texts } = await compile({
    ...base,
    variants: { de: { subject: '{{Name', text: 'x' }, fr: { subject: 's' } },
  });
  assert.deepEqual(
    texts.map((text) => text.split(':')[0]),
    ['error de subject unclosed-tag', 'error fr html no-body'],
  );
  const fields = { ' ': {} };
  const bad = await compile({ ...base, fields, variants: { de: { subject: 's', text: 't' } } });
  assert.deepEqual(
    bad.texts.map((text) => text.split(':')[0]),
    ['error - fields bad-name'],
  );
});

test('a default that lacks what a variant needs is an error of that variant', async () => {
  const { texts } = await compile({
    ...base,
    fields: { Items: { kind: 'list', default: [{}], fields: { Price: {} } } },
    variants: { de: { subject: 's', text: '{{#Items}}{{Price}}{{/Items}}' } },
  });
  assert.deepEqual(texts, ['error de fields bad-value: a default has no value for Items[0].Price']);
});

test('locales must be canonical, and other than that of the default content', async () => {
  const content = { subject: 's', text: 't' };
  const variants = { 'de-at': content, en: content, de_CH: content };
  const { texts } = await compile({ ...base, locale: 'en', variants });
  assert.deepEqual(texts, [
    'error - variants bad-locale: the locale "de-at" must be written de-AT',
    'error - variants duplicate-locale: the locale en is that of the default content; remove the variant or change locale',
    'error - variants bad-locale: the locale "de_CH" must be a BCP 47 language tag of at most 35 characters, such as de or pt-BR',
  ]);
  assert.deepEqual((await compile({ ...base, locale: 'german' })).texts, []);
  assert.match(
    (await compile({ ...base, locale: 'x' })).texts[0] ?? '',
    /error - locale bad-locale/,
  );
});

test('a version can have 50 variants and not one more', async () => {
  const withVariants = (count: number) => {
    const names = Array.from({ length: count }, (_, n) => `de-x-${n}`);
    const variants = Object.fromEntries(names.map((name) => [name, { subject: 's', text: 't' }]));
    return compile({ ...base, variants });
  };
  const most = await withVariants(MAX_VARIANTS);
  assert.equal(most.compiled?.locales?.length, 50);
  assert.deepEqual((await withVariants(MAX_VARIANTS + 1)).texts, [
    'error - variants too-many-variants: has more than 50 variants',
  ]);
});

test('the sources of a version can have 2,097,152 characters together and not one more', async () => {
  const longest = 'x'.repeat(512 * 1024);
  const most = (more: string) => {
    const rest = MAX_VERSION_LENGTH - base.subject.length - (base.text ?? '').length;
    const variant = (length: number) => ({ subject: 'ss', text: longest.slice(0, length - 2) });
    const variants = {
      de: variant(longest.length),
      fr: variant(longest.length),
      es: variant(longest.length),
      it: variant(rest - 3 * longest.length),
    };
    return compile({ ...base, text: `${base.text}${more}`, variants });
  };
  assert.deepEqual((await most('')).texts, []);
  assert.deepEqual((await most('!')).texts, [
    'error - variants too-long: the default content and its variants are longer than 2097152 characters together',
  ]);
});
