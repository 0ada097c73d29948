import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderMessage } from '../../../src/content/rendering/render-message.ts';
import { loadSource, render } from '../../support/render-template.ts';

test('2.2: the template’s subject and preview text are the defaults of subjectLine and previewText', async () => {
  const source = {
    subject: 'Own {{A}}',
    previewText: 'Preview {{A}}',
    html: '<html><body class="x"><p>Body</p></body></html>',
  };
  const own = await render(source, { A: 'a&b' });
  assert.equal(own.subject, 'Own a&b');
  assert.match(
    own.html ?? '',
    /<body class="x"><div style="display:none;[^"]*">Preview a&amp;b(&#847;&zwnj;&nbsp;)+<\/div><p>Body/,
  );
  const other = await render(
    source,
    { A: 'a', B: '<b>' },
    { subjectLine: 'New {{B}}', previewText: '{{B}}' },
  );
  assert.equal(other.subject, 'New <b>');
  assert.match(other.html ?? '', />&lt;b&gt;&#847;/);
  assert.doesNotMatch(other.text ?? '', /Preview|&#847;/);
});

test('without preview text, the message contains nothing hidden', async () => {
  const { html } = await render({ previewText: '{{A}}', html: '<p>x' }, { A: ' ' });
  assert.equal(html, '<p>x');
});

test('the preview text is inserted at the start of the content, with or without a body element', async () => {
  for (const [source, before] of [
    ['<p>x', ''],
    ['<!doctype html><p>x', '<!doctype html>'],
    ['<html><head><title>{{T}}</title></head><p>x', '<html><head><title>t</title></head>'],
    ['<BODY\n class="a>b"><!-- <body> --><p>x', '<BODY\n class="a>b">'],
    [
      '<!--[if mso]><body><![endif]--><body id=1><p>x',
      '<!--[if mso]><body><![endif]--><body id=1>',
    ],
  ] as const) {
    const { html } = await render({ previewText: 'P', html: source }, { T: 't' });
    assert.ok(html?.startsWith(`${before}<div style="display:none`), html ?? '');
  }
});

test('a field uses its default only if its key is missing', async () => {
  const source = { text: '[{{A}}]', fields: { A: { default: 'there' } } };
  assert.equal((await render(source)).text, '[there]');
  assert.equal((await render(source, { A: '' })).text, '[]');
  assert.equal((await render(source, Object.create({ A: 'inherited' }))).text, '[there]');
});

test('a subject that is too long with its values is cut between characters, with a warning', async () => {
  const { subject, warnings } = await render(
    { subject: '{{A}}', text: 't' },
    { A: '😀'.repeat(2000) },
  );
  assert.equal(subject, '😀'.repeat(998));
  assert.deepEqual(
    warnings.map(({ code }) => code),
    ['subject-cut'],
  );
});

test('unpaired surrogates in values become replacement characters', async () => {
  const { html, subject } = await render(
    { subject: '{{A}}', html: '<a href="https://x.test/{{A}}">' },
    { A: '\ud83d' },
  );
  assert.equal(html, '<a href="https://x.test/%EF%BF%BD">');
  assert.equal(subject, '\ufffd');
});

test('only trackable links can be replaced', async () => {
  const template = await loadSource({
    subject: 's',
    html: `<body><a href="https://a.test/?x=1&amp;y=2">1</a><a href="{{Link}}">2</a><a href="{{Reset}}">3</a>
<a href="https://b.test/" data-track="off">4</a><a href="mailto:x@y.test">5</a><a href=https://c.test/>6</a><img src="https://i.test/"></body>`,
    fields: { Reset: { secret: true } },
  });
  const seen: [number, string][] = [];
  const input = {
    values: { Link: 'https://l.test/?a&b', Reset: 'https://r.test/secret' },
    rewriteLink: (link: { index: number }, url: string) => {
      seen.push([link.index, url]);
      return `https://t.test/${link.index}?a&b`;
    },
    bodyEnd: '<img src="pixel">',
  };
  const tracked = renderMessage(template, input);
  assert.equal(
    tracked.html,
    `<body><a href="https://t.test/0?a&amp;b">1</a><a href="https://t.test/1?a&amp;b">2</a><a href="https://r.test/secret">3</a>
<a href="https://b.test/" data-track="off">4</a><a href="mailto:x@y.test">5</a><a href="https://t.test/5?a&amp;b">6</a><img src="https://i.test/"><img src="pixel"></body>`,
  );
  assert.deepEqual(seen, [
    [0, 'https://a.test/?x=1&y=2'],
    [1, 'https://l.test/?a&b'],
    [5, 'https://c.test/'],
  ]);
  const mail = renderMessage(template, {
    ...input,
    values: { Link: 'mailto:a@b.test', Reset: 'x' },
  });
  assert.match(mail.html ?? '', /href="mailto:a@b.test">2/);
  assert.deepEqual(
    mail.warnings.map(({ field }) => field),
    ['Reset'],
  );
  const plain = renderMessage(template, { values: input.values });
  assert.match(
    plain.html ?? '',
    /href="https:\/\/a\.test\/\?x=1&amp;y=2">1.*href="https:\/\/l\.test\/\?a&amp;b">2/,
  );
});

test('a warning never contains a value, which may be secret', async () => {
  const { warnings } = await render(
    { html: '<a href="{{A}}" style="color:{{A}}">' },
    { A: 'secret: {}' },
  );
  assert.equal(warnings.length, 2);
  assert.doesNotMatch(JSON.stringify(warnings), /secret: /);
});

test('RFC 2046 5.1.4: an empty alternative is left out, and an empty text is derived from the HTML', async () => {
  const source = { html: '{{{HTML}}}', text: '{{Text}}', previewText: '{{Text}}' };
  const onlyText = await render(source, { HTML: '', Text: 'Hi' }, { bodyEnd: '<img>' });
  assert.deepEqual([onlyText.html, onlyText.text, onlyText.hasHtml], [null, 'Hi', false]);
  const HTML = '<p>Hi <a href="https://a.test/?a=1&amp;b=2">there</a></p>';
  const onlyHtml = await render(source, { HTML, Text: '' });
  assert.equal(onlyHtml.text, 'Hi there <https://a.test/?a=1&b=2>\n');
  const image = await render(source, { HTML: '<img src="cid:a">', Text: ' ' });
  assert.deepEqual([image.html, image.text], ['<img src="cid:a">', null]);
});

test('the value of a raw field is text in the derived text part', async () => {
  const HTML = `<!doctype html><title>T</title><style>p{}</style><div style="display:none">Pre</div>
    <h1>Hi</h1>
    <p>See <a href="https://x.example/a">this</a> &amp; <b>Gr&uuml;&szlig;e</b>,<br>Ada<img alt="!" src="x"></p>
    <script>"</p>"</script><ul><li>1</li><li><a href="https://b.test">https://b.test</a></li></ul>`;
  const expected =
    'Dear\n\nHi\n\nSee this <https://x.example/a> & Grüße,\nAda!\n\n1\nhttps://b.test\n';
  const { html, text } = await render({ html: '<p>Dear</p>{{{HTML}}}' }, { HTML });
  assert.equal(text, expected);
  assert.ok(html?.endsWith(HTML), 'the HTML is unchanged');
  const own = await render({ html: '{{{HTML}}}', text: '{{{HTML}}}' }, { HTML: '<b>' });
  assert.equal(own.text, '<b>', 'a text of its own shows the value as it is');
});
