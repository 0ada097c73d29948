import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileTemplate } from '../../../src/content/template/template-compiler.ts';
import type { TemplateSource } from '../../../src/content/template/template-source.ts';
import { render, templateProblemTexts } from '../../support/render-template.ts';

const MJML = (body: string, head = '') =>
  `<mjml><mj-head>${head}</mj-head><mj-body><mj-section><mj-column>\n${body}\n</mj-column></mj-section></mj-body></mjml>`;

test('a template needs exactly one HTML or MJML body, or text', async () => {
  assert.match((await templateProblemTexts({}))[0] ?? '', /no-body/);
  assert.match(
    (await templateProblemTexts({ html: '<p>', mjml: MJML('') }))[0] ?? '',
    /two-bodies/,
  );
});

test('a text-only template has no HTML part', async () => {
  const message = await render({ text: 'Hello {{Name}}' }, { Name: 'A & B' });
  assert.equal(message.text, 'Hello A & B');
  assert.equal(message.html, null);
});

test("input that can't be stored or sent is rejected: NUL, other control characters, unpaired surrogates, oversized parts", async () => {
  assert.match(
    (await templateProblemTexts({ html: 'a\n\u0000' }))[0] ?? '',
    /control-character 2:1/,
  );
  assert.match(
    (await templateProblemTexts({ subject: 'a\u001b', text: 't' }))[0] ?? '',
    /control-character/,
  );
  assert.match((await templateProblemTexts({ text: '\ud83d' }))[0] ?? '', /broken-character/);
  assert.match(
    (await templateProblemTexts({ text: 'x'.repeat(512 * 1024 + 1) }))[0] ?? '',
    /too-long/,
  );
  assert.match(
    (await templateProblemTexts({ text: 't', fields: { A: { default: '\u0000' } } }))[0] ?? '',
    /control-character/,
  );
  assert.match(
    (await templateProblemTexts({ text: 't', fields: { ' A': {} } }))[0] ?? '',
    /bad-name/,
  );
});

test('limits count code points, as the API does', async () => {
  const fields = { A: { description: '😀'.repeat(4_000) } };
  const problems = await templateProblemTexts({ subject: '😀'.repeat(2_001), text: 't', fields });
  assert.equal(problems.filter((problem) => problem.includes('too-long')).length, 1);
});

test('errors of each part report their position in the source', async () => {
  const problems = await templateProblemTexts({
    subject: '{{',
    previewText: '{{#A}}',
    text: 'a\n{{>x}}',
    html: '<p>\n<p {{A}}>',
  });
  assert.deepEqual(
    problems.map((problem) => problem.split(' ').slice(0, 2).join(' ')),
    ['unclosed-tag 1:1', 'unclosed-section 1:1', 'partial 2:1', 'field-place 2:4'],
  );
});

test('MJML is validated strictly; errors name the line and the element', async () => {
  const [problem] = await templateProblemTexts({ mjml: MJML('<mj-text colour="red">x</mj-text>') });
  assert.match(problem ?? '', /^mjml 2:- <mj-text>: .*colour/);
  assert.match(
    (await templateProblemTexts({ mjml: MJML('<mj-text color="{{C}}">x</mj-text>') }))[0] ?? '',
    /\{\{C\}\}/,
  );
  assert.match((await templateProblemTexts({ mjml: 'no mjml' }))[0] ?? '', /^mjml/);
  assert.match((await templateProblemTexts({ mjml: '<mjml></mjml>' }))[0] ?? '', /^mjml/);
});

test('an unclosed MJML element is an error with its line, because MJML would drop what follows', async () => {
  assert.match(
    (await templateProblemTexts({ mjml: MJML('<mj-text>x') }))[0] ?? '',
    /^mjml-unclosed 2:- <mj-text>/,
  );
  assert.match(
    (await templateProblemTexts({ mjml: MJML('x</mj-text>') }))[0] ?? '',
    /^mjml-unclosed 1:- <mj-column>/,
  );
  await render({ mjml: MJML('<!-- <mj-text> --><mj-image src="https://a.test/>" />') });
});

test("the MJML preview text ignores comments and has the same length limit as the template's", async () => {
  const preview = (text: string) => `<mj-preview>${text}</mj-preview>`;
  const head = `<!-- ${preview('Old')} -->${preview('New &amp; <!-- old --> {{Name}}')}`;
  const { compiled } = await compileTemplate({
    subject: 's',
    mjml: MJML('<mj-text>x</mj-text>', head),
  });
  assert.deepEqual(compiled?.previewText, ['New & ', { type: 'field', name: 'Name', as: 'plain' }]);
  assert.doesNotMatch(JSON.stringify(compiled?.html), /Old|New/);
  const [problem] = await templateProblemTexts({ mjml: MJML('', preview('x'.repeat(2_001))) });
  assert.match(problem ?? '', /^too-long .*<mj-preview> is longer than 2000 characters/);
});

test('MJML includes are rejected in every spelling', async () => {
  for (const include of [
    '<mj-include path="/etc/passwd" />',
    '<MJ-INCLUDE path="./x" type="css" />',
  ]) {
    assert.match((await templateProblemTexts({ mjml: MJML(include) }))[0] ?? '', /mjml-include/);
  }
});

test('MJML loads nothing from another host unless the template says so', async () => {
  const fonts = "Roboto, 'Open Sans', Lato";
  const { html } = await render({ mjml: MJML(`<mj-text font-family="${fonts}">x</mj-text>`) });
  assert.doesNotMatch(html ?? '', /fonts\.googleapis|<link|@import/);
});

test('fields in MJML survive: text, links, images, backgrounds, table rows', async () => {
  const { html, warnings } = await render(
    {
      mjml: `<mjml><mj-body><mj-section background-url="https://i.test/{{Bg}}"><mj-column>
        <mj-text>Hi {{First Name}} &amp; {{{Raw}}}</mj-text>
        <mj-image src="{{Image}}" alt="{{Alt}}" />
        <mj-button href="https://shop.test/?o={{Order}}&amp;x=1">Open</mj-button>
        <mj-table>{{#Row}}<tr><td>{{Row}}</td></tr>{{/Row}}{{^None}}<tr><td>none</td></tr>{{/None}}</mj-table>
        <mj-raw>{{#Row}}</mj-raw><mj-text>maybe</mj-text><mj-raw>{{/Row}}</mj-raw>
      </mj-column></mj-section></mj-body></mjml>`,
    },
    {
      Bg: "a b'c",
      'First Name': '<A>',
      Raw: '<i>r</i>',
      Image: 'https://i.test/x.png',
      Alt: 'a "b"',
      Order: '1&2',
      Row: 'row',
      None: '',
    },
  );
  assert.deepEqual(warnings, []);
  assert.ok(html !== null);
  assert.ok(html.includes('Hi &lt;A&gt; &amp; <i>r</i>'));
  assert.ok(html.includes('src="https://i.test/x.png"'));
  assert.ok(html.includes('alt="a &quot;b&quot;"'));
  assert.ok(html.includes('href="https://shop.test/?o=1%262&amp;x=1"'));
  assert.ok(html.includes('background="https://i.test/a%20b&#39;c"'));
  assert.ok(html.includes('url(&#39;https://i.test/a%20b%27c&#39;)'));
  assert.ok(html.includes('<tr><td>row</td></tr><tr><td>none</td></tr>'));
  assert.ok(html.includes('maybe'));
});

test('a tag that MJML would drop is an error that says how to fix it', async () => {
  const [problem] = await templateProblemTexts({ mjml: MJML('{{#A}}<mj-text>x</mj-text>{{/A}}') });
  assert.match(problem ?? '', /^field-lost 2:1 \{\{#A\}\} .*<mj-raw>/);
});

test('MJML comments are removed, and fields in them are an error', async () => {
  const { html } = await render({ mjml: MJML('<!-- note --><mj-text>x</mj-text>') });
  assert.doesNotMatch(html ?? '', /note/);
});

test('<mj-preview> becomes the preview text, with its fields, and can be overridden', async () => {
  const mjml = MJML('<mj-text>x</mj-text>', '<mj-preview>Hi {{Name}} &amp; all</mj-preview>');
  const own = await render({ mjml }, { Name: '<N>' });
  assert.match(own.html ?? '', />Hi &lt;N&gt; &amp; all&#847;/);
  const other = await render({ mjml }, {}, { previewText: 'Other' });
  assert.doesNotMatch(other.html ?? '', /Hi /);
  assert.match(other.html ?? '', />Other&#847;/);
});

test('styles are inlined, media queries stay, linked style sheets are left alone', async () => {
  const { html } = await render(
    {
      html: `<html><head><link rel="stylesheet" href="https://x.test/a.css"><style>
      p { color: red } p:hover { color: blue } @media (max-width: 100px) { p { color: green } }
      </style></head><body><p title="{{T}}">{{#A}}a{{/A}}</p><table>{{#A}}<tr><td>{{A}}</td></tr>{{/A}}</table></body></html>`,
    },
    { T: 't', A: 'x' },
  );
  assert.match(html ?? '', /<p title="t" style="color: red;">a<\/p>/);
  assert.match(html ?? '', /@media \(max-width: 100px\)/);
  assert.match(html ?? '', /p:hover/);
  assert.match(html ?? '', /<table><tr><td>x<\/td><\/tr><\/table>/);
  assert.match(html ?? '', /a\.css/);
});

test('HTML without style sheets is unchanged', async () => {
  const html = '<P Class=x>&nbsp;A&copy<br/>\n<img src=a.png><p>{{A}}';
  assert.equal((await render({ html }, { A: '1' })).html, html.replace('{{A}}', '1'));
});

test('line endings in templates become line feeds', async () => {
  assert.equal((await render({ text: 'a\r\nb\rc' })).text, 'a\nb\nc');
});

test('a text part is derived from the HTML: links, fields, sections, images, no hidden text', async () => {
  const { text } = await render(
    {
      html: `<h1>Hi {{Name}}</h1><div style="display:none">hidden</div>
      <p>See <a href="https://shop.test/o/{{Order}}?a=1&amp;b=2">your order</a> or <a href="https://shop.test/">shop</a>.</p>
      {{#Gift}}<p>Gift: {{Gift}}</p>{{/Gift}}{{^Gift}}<p>No gift</p>{{/Gift}}
      <table><tr><td>One</td><td>{{Price}}</td></tr>{{#More}}<tr><td>Two</td><td>{{More}}</td></tr>{{/More}}</table>
      <p><img src="https://shop.test/i.png" alt="Logo"></p><p><a href="{{Link}}">{{Link}}</a></p>`,
    },
    {
      Name: '<A & B>',
      Order: 'a b/c',
      Gift: '',
      Price: '1 €',
      More: '2 €',
      Link: 'https://x.test/',
    },
  );
  assert.equal(
    text,
    [
      'Hi <A & B>',
      '',
      'See your order <https://shop.test/o/a%20b%2Fc?a=1&b=2> or shop <https://shop.test/>.',
      '',
      'No gift',
      '',
      'One 1 €',
      'Two 2 €',
      '',
      'Logo',
      '',
      'https://x.test/',
      '',
    ].join('\n'),
  );
});

test('a text part in the template is used unchanged', async () => {
  const message = await render(
    { html: '<p>h', text: '  a\n\n{{#A}}\nline {{A}}\n{{/A}}\nend ' },
    { A: '<1>' },
  );
  assert.equal(message.text, '  a\n\nline <1>\nend ');
});

test('fields are listed with the parts that use them and their settings', async () => {
  const { fields, problems } = await compileTemplate({
    subject: '{{A}}',
    previewText: '{{B}}',
    html: '{{A}}{{#C}}{{/C}}',
    text: '{{D}}',
    fields: { A: { default: 'x', sample: 's', secret: true }, Unused: {} },
  });
  assert.deepEqual(fields, [
    { name: 'A', parts: ['subject', 'html'], default: 'x', secret: true },
    { name: 'B', parts: ['previewText'], secret: false },
    { name: 'C', parts: ['html'], secret: false },
    { name: 'D', parts: ['text'], secret: false },
  ]);
  assert.deepEqual(
    problems.map(({ rule, severity }) => [rule, severity]),
    [['unused-field', 'warning']],
  );
});

test('links are listed with target and fields; secret and untracked ones are marked', async () => {
  const { compiled } = await compileTemplate({
    subject: 's',
    html: `<link href="https://x.test/"><a href="https://a.test/?a=1&amp;b={{B}}">1</a><a href="{{Reset}}">2</a>
      <a href="https://c.test" data-track="off">3</a><a href="mailto:a@b.test">4</a><a href=https://d.test>5</a>
      <a name="x">no link</a><area href="https://e.test">`,
    fields: { Reset: { secret: true } },
  });
  const links = compiled?.links.map(({ index, target, fields, secret, trackable }) => [
    index,
    target,
    fields,
    secret,
    trackable,
  ]);
  assert.deepEqual(links, [
    [0, 'https://a.test/?a=1&b={{B}}', ['B'], false, true],
    [1, '{{Reset}}', ['Reset'], true, false],
    [2, 'https://c.test', [], false, false],
    [3, 'mailto:a@b.test', [], false, false],
    [4, 'https://d.test', [], false, true],
    [5, 'https://e.test', [], false, true],
  ]);
});

test("a source can't forge the placeholders used during compilation", async () => {
  const html = '<p>qzfn0z qzf0xn0z {{A}} QZFn0z</p>';
  assert.equal((await render({ html }, { A: 'a' })).html, '<p>qzfn0z qzf0xn0z a QZFn0z</p>');
});

test('fields can be named like properties of Object.prototype', async () => {
  const values = JSON.parse('{"__proto__": "p", "constructor": "c"}');
  const { html } = await render(
    { html: '{{__proto__}}{{constructor}}{{toString}}', fields: { toString: { default: 'd' } } },
    values,
  );
  assert.equal(html, 'pcd');
});

test('a guarded field is the whole URL of a link, outside of lists, and in no subject or preview text', async () => {
  const fields = { L: { guard: true } };
  const problems = async (source: Partial<TemplateSource>) => {
    const compiled = await compileTemplate({ subject: 's', fields, ...source });
    return compiled.problems.map(({ rule }) => rule);
  };
  const link = '<a href="{{L}}">{{L}}</a>{{#L}}x{{/L}}';
  assert.deepEqual(await problems({ html: link, text: 'Open {{L}}' }), []);
  assert.deepEqual(await problems({ mjml: MJML('<mj-button href="{{L}}">Go</mj-button>') }), []);
  for (const source of [
    { html: link, subject: 'Now {{L}}' },
    { html: link, previewText: '{{L}}' },
    { html: '<a href="{{L}}&amp;x=1">x</a>' },
    { html: '<a href="https://shop.test/?to={{L}}">x</a>' },
    { html: '<a href="{{#A}}{{L}}{{/A}}">x</a>' },
    { mjml: MJML('<mj-button href="{{L}}#top">Go</mj-button>') },
    {
      html: '{{#Items}}<a href="{{L}}">{{Name}}</a>{{/Items}}{{L}}',
      fields: { L: { guard: true }, Items: { kind: 'list', fields: { Name: {} } } } as const,
    },
  ])
    assert.ok((await problems(source)).includes('guard-place'), JSON.stringify(source));
});

test('a guarded field is a text without a default, and its sample is a link', async () => {
  const html = '<p>x</p>';
  for (const [field, message] of [
    [{ guard: true, kind: 'list' }, 'its kind must be text'],
    [{ guard: { days: 3 }, default: 'https://shop.test/' }, 'its default must be empty'],
    [{ guard: true, sample: 'reset' }, 'its sample must be an http or https URL'],
  ] as const) {
    const [problem = '', ...more] = await templateProblemTexts({ html, fields: { L: field } });
    assert.ok(problem.includes(message), problem);
    assert.deepEqual(more, []);
  }
  const { compiled } = await compileTemplate({
    subject: 's',
    html,
    fields: { L: { guard: { days: 90 } }, M: { guard: true, default: '' }, N: { guard: false } },
  });
  assert.deepEqual(compiled?.guards, { L: 90, M: 7 });
});
