import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { loadTemplate } from '../../../src/content/rendering/load-template.ts';
import { renderMessage } from '../../../src/content/rendering/render-message.ts';
import { compileSource } from '../../../src/content/template/compile-source.ts';
import {
  type FieldFormat,
  formatValue,
  isReadable,
  parseHelper,
  writeHelper,
} from '../../../src/content/template/field-format.ts';
import { render, templateProblemTexts } from '../../support/render-template.ts';

const plainSpaces = (text: string): string => text.replace(/[\u00a0\u202f]/g, ' ');

function format(call: string, value: string, locale = 'en-US'): string {
  const parsed = parseHelper(call);
  assert.ok(parsed !== undefined && 'format' in parsed, call);
  return plainSpaces(formatValue(parsed.format, value, locale));
}

test('a plural has a form for each category that its language needs', () => {
  const call = 'plural D "товар" "товара" few "товара" many "товаров"';
  for (const [value, russian] of [
    ['1', 'товар'],
    ['21', 'товар'],
    ['2', 'товара'],
    ['22', 'товара'],
    ['5', 'товаров'],
    ['11', 'товаров'],
    ['1.5', 'товара'],
  ] as const)
    assert.equal(format(call, value, 'ru-RU'), russian, value);
  assert.equal(format(call, '2', 'en-US'), 'товара');
  const parsed = parseHelper(call);
  assert.ok(parsed !== undefined && 'format' in parsed);
  assert.equal(writeHelper(parsed.format, 'D'), `{{${call}}}`);
});

test('helpers write values as the locale does', () => {
  for (const [call, value, american, german] of [
    ['date "long" D', '2026-01-31', 'January 31, 2026', '31. Januar 2026'],
    ['date "short" D', '2026-01-31T23:59:59-11:00', '1/31/26', '31.01.26'],
    ['currency "EUR" D', '1234.5', '€1,234.50', '1.234,50 €'],
    ['currency "JPY" D', '-1234', '-¥1,234', '-1.234 ¥'],
    ['number "0.0" D', '1234.56', '1234.6', '1234,6'],
    ['number "#,##0.00" D', '1234.5', '1,234.50', '1.234,50'],
    ['number "0.##" D', '1.5', '1.5', '1,5'],
    ['plural D "item" "items"', '1', 'item', 'item'],
    ['plural D "item" "items"', '0', 'items', 'items'],
  ] as const) {
    assert.equal(format(call, value), american, call);
    assert.equal(format(call, value, 'de-DE'), german, call);
  }
});

test('the written day counts, whatever its offset', () => {
  for (const time of ['', 'T00:30', 'T23:30:00Z', 'T23:30:00.5+14:00', 'T00:00:00-1200'])
    assert.equal(format('date "medium" D', `2024-02-29${time}`), 'Feb 29, 2024', time);
});

test('amounts are never rounded to binary numbers', () => {
  assert.equal(format('currency "USD" D', '9007199254740993.07'), '$9,007,199,254,740,993.07');
});

test('an empty value stays empty, and what a helper cannot read stays as it is', () => {
  for (const call of ['date "long" D', 'currency "EUR" D', 'number "0" D', 'plural D "a" "b"']) {
    assert.equal(format(call, ''), '');
    assert.equal(format(call, '••••'), '••••');
  }
});

test('days and numbers that are none are not readable', () => {
  const date: FieldFormat = { helper: 'date', style: 'long' };
  const number: FieldFormat = { helper: 'number', pattern: '0' };
  for (const value of [
    '2026-02-29',
    '2026-13-01',
    '2026-1-1',
    '31.01.2026',
    '2026-01-01T24:00',
    '2026-01-01 ',
    '1769817600',
  ])
    assert.equal(isReadable(date, value), false, value);
  for (const value of [
    '1e3',
    '0x10',
    'Infinity',
    'NaN',
    '1,5',
    ' 1',
    '1.',
    '.5',
    '+1',
    '--1',
    '9'.repeat(41),
  ])
    assert.equal(isReadable(number, value), false, value);
  for (const value of ['0', '-0.10', '007', '9'.repeat(40)])
    assert.equal(isReadable(number, value), true, value);
});

test('no value and no call makes a helper throw', () => {
  const quoted = fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom('long', 'EUR', '0.0'));
  const call = fc
    .tuple(
      fc.constantFrom('date', 'currency', 'number', 'plural'),
      quoted,
      fc.string({ maxLength: 9 }),
    )
    .map(([name, argument, field]) =>
      name === 'plural' ? `plural ${field} "${argument}" "x"` : `${name} "${argument}" ${field}`,
    );
  const value = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom(...'0123456789-.:TZ+'), maxLength: 45 }),
  );
  fc.assert(
    fc.property(call, value, (text, given) => {
      const parsed = parseHelper(text);
      if (parsed === undefined || 'problem' in parsed) return;
      assert.equal(
        writeHelper(parsed.format, parsed.name).replace(/\s+/g, ' '),
        `{{${text.trim()}}}`.replace(/\s+/g, ' '),
      );
      assert.equal(typeof formatValue(parsed.format, given, 'en-US'), 'string');
    }),
  );
});

test('a tag without a quoted argument is a field, as ever', async () => {
  const names = [
    'date Due',
    'date',
    'plural Count',
    'dates "x" Y',
    'currency EUR Total',
    'Due "long"',
  ];
  for (const name of names) {
    assert.equal(parseHelper(name), undefined);
    assert.equal((await render({ text: `{{${name}}}` }, { [name]: 'v' })).text, 'v');
  }
});

test('a call that is written wrong is an error at its place', async () => {
  for (const [call, message] of [
    ['date "longish" Due', 'knows the styles full, long, medium, short'],
    ['date "long"', 'must be written as {{helper "argument" Field}}'],
    ['date "long Due', 'must be written as {{helper "argument" Field}}'],
    ['currency "ERU" Due', 'needs a currency of ISO 4217, such as "EUR"'],
    [
      'number "1.0" Due',
      'needs a pattern such as "0", "0.00", "0.##" or "#,##0.00", with at most 10 decimals',
    ],
    [
      `number "0.${'0'.repeat(11)}" Due`,
      'needs a pattern such as "0", "0.00", "0.##" or "#,##0.00", with at most 10 decimals',
    ],
    [
      'plural Count "item"',
      'must be written as {{plural Field "one" "other"}}, with further forms such as few "…" at the end',
    ],
  ])
    assert.deepEqual(await templateProblemTexts({ text: `a\n {{${call}}}` }), [
      `bad-helper 2:2 {{${call}}} ${message}`,
    ]);
  assert.match(
    (await templateProblemTexts({ text: '{{#date "long" D}}x{{/date "long" D}}' }))[0] ?? '',
    /^bad-helper 1:1 .* can’t be a section/,
  );
});

test('helpers show escaped values in text and attributes, and are refused in URLs', async () => {
  const { html, subject, text } = await render(
    {
      subject: 'Due {{date "long" Due}}',
      html: '<p title="{{currency "EUR" Total}}">{{plural Count "a & b" "c & d"}}</p>',
      locale: 'de',
    },
    { Due: '2026-01-31', Total: '5', Count: '1' },
  );
  assert.equal(subject, 'Due 31. Januar 2026');
  assert.equal(plainSpaces(html ?? ''), '<p title="5,00 €">a &amp; b</p>');
  assert.equal(text, 'a & b\n');
  assert.deepEqual(
    await templateProblemTexts({ html: '<a href="https://a.test/{{date "long" Due}}">x</a>' }),
    ['helper-place 1:25 {{date "long" Due}} can’t be used in a URL, which needs the plain value'],
  );
});

test('a default that the helper cannot read is an error', async () => {
  assert.deepEqual(
    await templateProblemTexts({
      text: '{{date "long" Due}}',
      fields: { Due: { default: 'soon' } },
    }),
    [
      'unreadable-value 1:1 {{date "long" Due}} can’t read the field’s default, which must be a date of ISO 8601, such as 2026-01-31 or 2026-01-31T09:30:00Z',
    ],
  );
});

test('a version that was published before there were helpers keeps its reading', async () => {
  const source = { subject: 's', text: '{{date "long" Due}}' };
  const { compiled } = await compileSource({ source, format: 1 });
  assert.ok(compiled !== null);
  const template = loadTemplate(compiled);
  const values = { 'date "long" Due': 'soon', Due: '2026-01-31' };
  const { text, subject } = renderMessage(template, { values, subjectLine: source.text });
  assert.deepEqual([text, subject], ['soon', 'soon']);
});
