import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderMessage } from '../../../src/content/rendering/render-message.ts';
import { compileVersion } from '../../../src/content/template/compile-version.ts';
import type { FieldRecord, GivenValues } from '../../../src/content/template/field-value.ts';
import { findUnreadable, missingFields } from '../../../src/content/template/template-fields.ts';
import { MAX_LIST_TAGS } from '../../../src/content/template/template-limits.ts';
import type { TemplateSource } from '../../../src/content/template/template-source.ts';
import { loadSource, templateProblemTexts } from '../../support/render-template.ts';

async function text(
  source: string,
  fields: TemplateSource['fields'],
  values: GivenValues,
): Promise<string | null> {
  const template = await loadSource({ subject: 's', text: source, fields: fields ?? {} });
  return renderMessage(template, { values }).text;
}

const list = { kind: 'list' } as const;
const object = { kind: 'object' } as const;

test('a section is shown for each item, and names are found in the item first, then outside', async () => {
  const source = '{{#Items}}{{Name}} {{Currency}}{{Price}};{{/Items}}{{^Items}}none{{/Items}}';
  const fields = { Items: list, Currency: {} };
  const items: FieldRecord[] = [
    { Name: 'Pen', Price: '1' },
    { Name: 'Ink', Price: '2', Currency: '$' },
  ];
  assert.equal(await text(source, fields, { Items: items, Currency: '€' }), 'Pen €1;Ink $2;');
  assert.equal(await text(source, fields, { Items: [], Currency: '€' }), 'none');
});

test('an object is shown once, unless it is empty', async () => {
  const source = '{{#Shop}}{{Name}}{{#Note}} ({{Note}}){{/Note}}{{/Shop}}{{^Shop}}-{{/Shop}}';
  const fields = { Shop: object };
  assert.equal(await text(source, fields, { Shop: { Name: 'A', Note: 'x' } }), 'A (x)');
  assert.equal(await text(source, fields, { Shop: { Name: 'A', Note: '' } }), 'A');
  assert.equal(await text(source, fields, { Shop: {} }), '-');
});

test('lists nest, and a list is shown only where its items have it', async () => {
  const fields = {
    Orders: { ...list, fields: { Lines: { ...list, fields: { Tags: list } }, Number: {} } },
  };
  const source =
    '{{#Orders}}{{Number}}:{{#Lines}}{{Name}}{{#Tags}}<{{Tag}} of {{Number}}>{{/Tags}},{{/Lines}};{{/Orders}}';
  const orders: FieldRecord[] = [
    {
      Number: '1',
      Lines: [
        { Name: 'a', Tags: [{ Tag: 'x' }, { Tag: 'y' }] },
        { Name: 'b', Tags: [] },
      ],
    },
    { Number: '2', Lines: [] },
  ];
  assert.equal(await text(source, fields, { Orders: orders }), '1:a<x of 1><y of 1>,b,;2:;');
});

test('defaults of item fields count before what is outside', async () => {
  const fields = { Items: { ...list, fields: { Unit: { default: 'pc' } } }, Unit: {} };
  const source = '{{Unit}}:{{#Items}}{{Unit}},{{/Items}}';
  assert.equal(await text(source, fields, { Unit: 'kg', Items: [{}, { Unit: 'l' }] }), 'kg:pc,l,');
});

test('names of Object.prototype are fields of items like any other', async () => {
  const items = JSON.parse(
    '[{"__proto__":"a","constructor":"b"},{"__proto__":"","constructor":"c"}]',
  );
  const source = '{{#Items}}{{__proto__}}{{constructor}}{{toString}};{{/Items}}';
  assert.equal(
    await text(source, { Items: list }, { Items: items, toString: 'o' } as never),
    'abo;co;',
  );
});

test('a field of this service is never one of an item', async () => {
  const source = '{{#Items}}{{Unsubscribe Link}}{{/Items}}';
  const values = { Items: [{ 'Unsubscribe Link': 'evil' }], 'Unsubscribe Link': 'ours' };
  assert.equal(await text(source, { Items: list }, values), 'ours');
});

test('a section over a text keeps its meaning', async () => {
  assert.equal(await text('{{#Note}}[{{Note}}]{{/Note}}', {}, { Note: 'x' }), '[x]');
  assert.equal(
    await text('{{#Note}}[{{Note}}]{{/Note}}', { Note: { kind: 'text' } }, { Note: '' }),
    '',
  );
});

test('the HTML of a list becomes lines of the text', async () => {
  const template = await loadSource({
    subject: '{{#Items}}{{Name}} {{/Items}}',
    html: '<h1>Receipt</h1><table>{{#Items}}<tr><td>{{Name}}</td><td>{{currency "EUR" Price}}</td></tr>{{/Items}}</table><p>Thanks</p>',
    fields: { Items: list },
  });
  const Items = [
    { Name: 'Pen & ink', Price: '1.5' },
    { Name: '<b>', Price: '2' },
  ];
  const mail = renderMessage(template, { values: { Items } });
  assert.equal(mail.subject, 'Pen & ink <b>');
  assert.equal(
    mail.html,
    '<h1>Receipt</h1><table><tr><td>Pen &amp; ink</td><td>€1.50</td></tr><tr><td>&lt;b&gt;</td><td>€2.00</td></tr></table><p>Thanks</p>',
  );
  assert.equal(mail.text, 'Receipt\n\nPen & ink €1.50\n<b> €2.00\n\nThanks\n');
});

test('the contract has the fields of items: declared ones are needed in each item, others may be outside', async () => {
  const { compiled, index } = await loadSource({
    subject: '{{#Items}}{{Sku}}{{/Items}}',
    text: '{{#Items}}{{Name}}{{Price}}{{Unit}}{{/Items}}',
    fields: { Items: { ...list, fields: { Name: {}, Unit: { default: '' } } } },
  });
  const [field] = compiled.fields;
  assert.deepEqual(
    field?.fields?.map(({ name, parts, outside = false }) => [name, parts.join(), outside]),
    [
      ['Name', 'text', false],
      ['Unit', 'text', false],
      ['Sku', 'subject', true],
      ['Price', 'text', true],
    ],
  );
  const Items: FieldRecord[] = [{ Name: 'a', Price: '1', Sku: 's' }, { Sku: '' }, { Name: 'c' }];
  assert.deepEqual(missingFields(compiled, {}), ['Items']);
  assert.deepEqual(missingFields(compiled, { Items: [] }), []);
  assert.deepEqual(missingFields(compiled, { Items }), [
    'Items[1].Name',
    'Items[1].Price',
    'Items[2].Price',
    'Items[2].Sku',
  ]);
  assert.deepEqual(missingFields(compiled, { Items, Price: '5', Name: 'x', Sku: '' }), [
    'Items[1].Name',
  ]);
  assert.deepEqual(
    missingFields(compiled, { Items, Price: '5' }, { subjectLine: { nodes: [], fields: [] } }),
    ['Items[1].Name'],
  );
  assert.deepEqual(findUnreadable(compiled, index, { Items }), []);
});

test('a name that is declared outside is needed there, and items may have their own', async () => {
  const { compiled } = await loadSource({
    subject: 's',
    text: '{{#Items}}{{Currency}}{{/Items}}',
    fields: { Items: list, Currency: {} },
  });
  assert.deepEqual(missingFields(compiled, { Items: [{ Currency: 'EUR' }] }), ['Currency']);
  assert.deepEqual(missingFields(compiled, { Items: [{}], Currency: '' }), []);
});

test('what a helper cannot read is named by its place, wherever the value comes from', async () => {
  const { compiled, index } = await loadSource({
    subject: '{{plural Count "a" "b"}}',
    text: '{{#Items}}{{date "long" Due}}{{#Lines}}{{number "0" N}}{{/Lines}}{{/Items}}',
    fields: { Items: { ...list, fields: { Lines: list } } },
  });
  const values: GivenValues = {
    Count: 'x',
    Due: 'soon',
    Items: [
      { Due: '2026-01-31', Lines: [{ N: '1' }, { N: 'two' }] },
      { Lines: [] },
      { Due: '', Lines: [] },
    ],
  };
  assert.deepEqual(
    findUnreadable(compiled, index, values)
      .map(({ place }) => place)
      .sort(),
    ['Count', 'Due', 'Items[0].Lines[1].N'],
  );
});

test('publishing refuses what could not be shown, at its place', async () => {
  for (const [source, fields, problem] of [
    [
      'a\n{{Items}}',
      { Items: list },
      'list-as-text 2:1 {{Items}} is a list; show its fields in a section, {{#Items}}…{{/Items}}',
    ],
    [
      '{{#A}}{{#B}}x{{/B}}{{/A}}',
      { A: list, B: list },
      'list-place 1:7 {{#B}} can’t be inside the section of A, unless it is declared among the fields of A',
    ],
    [
      '{{#A}}{{#A}}x{{/A}}{{/A}}',
      { A: list },
      'list-place 1:7 {{#A}} can’t be inside the section of A, unless it is declared among the fields of A',
    ],
    [
      '{{#A}}{{date "long" A}}{{/A}}',
      { A: object },
      'list-as-text 1:7 {{A}} is an object; show its fields in a section, {{#A}}…{{/A}}',
    ],
  ] as const)
    assert.deepEqual(await templateProblemTexts({ text: source, fields }), [problem]);
  assert.deepEqual(
    await templateProblemTexts({
      html: '<a href="https://a.test/{{#A}}{{B}}{{/A}}">x</a>',
      fields: { A: list },
    }),
    ['list-place 1:25 {{#A}} is a list, which can’t be used in a URL'],
  );
  const half = MAX_LIST_TAGS / 2 - 1;
  const many = `{{#A}}{{#O}}${'{{x}}'.repeat(half)}{{/O}}{{/A}}${'{{#A}}{{/A}}'.repeat(half)}{{#P}}${'{{y}}'.repeat(300)}{{/P}}`;
  const fields = { A: { ...list, fields: { O: object } }, P: object };
  assert.notEqual(
    (await compileVersion({ source: { subject: 's', text: many, fields } })).compiled,
    null,
  );
  assert.deepEqual(await templateProblemTexts({ text: `${many}{{#A}}{{/A}}`, fields }), [
    'too-many-list-tags -:- has more than 200 tags in the sections of lists',
  ]);
});

test('declarations are checked: depth, kinds, defaults and samples', async () => {
  const deep = {
    ...list,
    fields: { B: { ...list, fields: { C: { ...object, fields: { D: {} } } } } },
  };
  assert.notEqual(
    (await compileVersion({ source: { subject: 's', text: 'x', fields: { A: deep } } })).compiled,
    null,
  );
  const tooDeep = {
    ...list,
    fields: { B: { ...list, fields: { C: { ...list, fields: { D: object } } } } },
  };
  for (const [field, problem] of [
    [tooDeep, 'nested-too-deeply -:- the field A.B.C.D is a object more than 3 deep'],
    [
      { fields: { B: {} } },
      'bad-kind -:- the field A has fields, so its kind must be list or object',
    ],
    [{ ...list, default: 'x' }, 'bad-value -:- the default of the field A must be an array'],
    [{ sample: [] }, 'bad-value -:- the sample of the field A must be a string'],
    [
      { ...list, sample: [{ B: { C: '' } }] },
      'bad-value -:- the sample of the field A[0].B must be a string',
    ],
    [
      { ...list, fields: { B: { ...list, default: [{ C: '' }] } } },
      'bad-value -:- the default of the field A.B must be empty, because it is in an item',
    ],
  ] as const)
    assert.ok(
      (await templateProblemTexts({ text: 'x', fields: { A: field } as never })).includes(problem),
      problem,
    );
  const items: FieldRecord[] = [{ B: '1' }, { C: '2' }];
  const needing = { ...list, default: items };
  assert.deepEqual(
    await templateProblemTexts({ text: '{{#A}}{{B}}{{/A}}', fields: { A: needing } }),
    ['bad-value -:- a default has no value for A[1].B'],
  );
});

test('links in items know their item, and those of a secret list are never tracked', async () => {
  const source = {
    subject: 's',
    html: '{{#Items}}<a href="https://a.test/{{Id}}">{{Id}}</a><a href="https://a.test/">all</a>{{/Items}}',
  };
  const template = await loadSource({ ...source, fields: { Items: list } });
  const seen: string[] = [];
  renderMessage(template, {
    values: { Items: [{ Id: '1' }, { Id: '2' }] },
    rewriteLink: ({ index, fields }, url, item) => {
      seen.push(`${index} ${url} ${fields.map((name) => item?.text(name)).join()}`);
      return url;
    },
  });
  assert.deepEqual(seen, [
    '0 https://a.test/1 1',
    '1 https://a.test/ ',
    '0 https://a.test/2 2',
    '1 https://a.test/ ',
  ]);
  const secret = await loadSource({ ...source, fields: { Items: { ...list, secret: true } } });
  assert.deepEqual(
    secret.compiled.links.map(({ secret: hidden, trackable }) => [hidden, trackable]),
    [
      [true, false],
      [false, true],
    ],
  );
});
