import assert from 'node:assert/strict';
import { test } from 'node:test';
import { render, templateProblemTexts } from '../../support/render-template.ts';

/** Renders with `value` for every field A. */
async function html(source: string, value: string): Promise<string> {
  const { html: rendered } = await render({ html: source, text: '' }, { A: value });
  return rendered ?? '';
}

const refused: readonly (readonly [where: string, html: string, message: RegExp])[] = [
  ['a style sheet', '<style>p{color:{{A}}}</style>', /is in <style>/],
  ['a script', '<script>x={{A}}</script>', /is in <script>/],
  ['a script in capitals', '<SCRIPT>x={{A}}</SCRIPT>', /is in <script>/],
  ['a script that looks closed', '<script><!--<script></script>{{A}}</script>', /is in <script>/],
  ['a frame', '<iframe>{{A}}</iframe>', /is in <iframe>/],
  ['plain text to the end', '<plaintext>{{A}}', /is in <plaintext>/],
  ['a comment', '<!-- {{A}} -->', /is in a comment/],
  ['a bogus comment', '<!{{A}}>', /is in a comment/],
  ['the doctype', '<!doctype {{A}}>', /is in the doctype/],
  ['an unquoted value', '<p title={{A}}>', /outside a quoted attribute value/],
  [
    'a part of an unquoted value',
    '<a href=https://x.test/{{A}}>',
    /outside a quoted attribute value/,
  ],
  ['an attribute name', '<p {{A}}="x">', /outside a quoted attribute value/],
  ['between attributes', '<p title="x" {{A}}>', /outside a quoted attribute value/],
  ['a repeated attribute', '<p title="x" title="{{A}}">', /outside a quoted attribute value/],
  ['a tag name', '<{{A}}>', /the tag <\{\{a\}\}>|the tag <\{\{A\}\}>/],
  ['a closing tag', '</{{A}}>', /a closing tag/],
  ['a tag that does not end', '<p title="{{A}}"', /incomplete tag/],
  ['a handler', '<p onclick="{{A}}">', /attribute onclick/],
  ['a list of images', '<img srcset="{{A}} 2x">', /attribute srcset/],
  ['a document in an attribute', '<iframe srcdoc="{{A}}"></iframe>', /attribute srcdoc/],
  ['a redirection', '<meta http-equiv="Refresh" content="0;url={{A}}">', /attribute content/],
  ['a script address', '<a href="javascript:f({{A}})">', /begins with javascript:/],
  ['a data address', '<img src=" DATA:text/html,{{A}}">', /begins with data:/],
  [
    'a conditional comment, in its style sheet',
    '<!--[if mso]><style>{{A}}</style><![endif]-->',
    /is in <style>/,
  ],
];

for (const [where, source, message] of refused) {
  test(`a field is rejected in ${where}, with its position`, async () => {
    const [problem] = await templateProblemTexts({ html: source });
    assert.match(problem ?? '', /^field-place 1:\d+ \{\{A\}\} /);
    assert.match(problem ?? '', message);
  });
}

const brokenSections = [
  '<p title="{{#A}}">{{/A}}</p>',
  '{{#A}}<p title="{{/A}}">',
  '{{#A}}<title>{{/A}}</title>',
  '<p title="{{#A}}" lang="{{/A}}">',
  '{{#A}}<!--[if mso]>{{/A}}<![endif]-->',
  '<a href="{{#A}}">{{/A}}</a>',
];

for (const source of brokenSections) {
  test(`a section must end in the context where it begins: ${source}`, async () => {
    assert.match((await templateProblemTexts({ html: source })).join('\n'), /section-torn/);
  });
}

test('a section between attributes is rejected', async () => {
  assert.match(
    (await templateProblemTexts({ html: '<a {{#A}}href="x"{{/A}}>' }))[0] ?? '',
    /a section is only allowed/,
  );
});

test('each problem reports the position of its tag in the source', async () => {
  const problems = await templateProblemTexts({ html: '<p>\n  <b {{A}}>\n<!-- {{B}} --></p>' });
  assert.deepEqual(
    problems.map((problem) => problem.split(' ')[1]),
    ['2:6', '3:6'],
  );
});

test('values in text and attributes are HTML-escaped', async () => {
  const value = `<b> & "q" 'a'`;
  const escaped = '&lt;b&gt; &amp; &quot;q&quot; &#39;a&#39;';
  assert.equal(
    await html('<p title="{{A}}">{{A}}</p>', value),
    `<p title="${escaped}">${escaped}</p>`,
  );
  assert.equal(await html("<p title='{{A}}'>", value), `<p title='${escaped}'>`);
  assert.equal(await html('<title>{{A}}</title>', value), `<title>${escaped}</title>`);
});

test('a raw field is raw in text and escaped where raw HTML could break the markup', async () => {
  const value = '<i>"x"</i>';
  const escaped = '&lt;i&gt;&quot;x&quot;&lt;/i&gt;';
  assert.equal(await html('<p>{{{A}}}</p>', value), `<p>${value}</p>`);
  assert.equal(await html('<p title="{{{A}}}">', value), `<p title="${escaped}">`);
  assert.equal(await html('<title>{{{A}}}</title>', value), `<title>${escaped}</title>`);
  assert.equal(
    await html('<a href="https://x.test/{{{A}}}">', value),
    '<a href="https://x.test/%3Ci%3E%22x%22%3C%2Fi%3E">',
  );
  const mso = await html('<!--[if mso]>{{{A}}}<![endif]-->', '--><script>');
  assert.equal(mso, '<!--[if mso]>--&gt;&lt;script&gt;<![endif]-->');
});

test('a field at the start of a URL must be an http, https or mailto URL', async () => {
  const link = '<a href="{{A}}">';
  assert.equal(
    await html(link, 'https://x.test/a?b=c&d="e"'),
    '<a href="https://x.test/a?b=c&amp;d=&quot;e&quot;">',
  );
  assert.equal(await html(link, 'HTTP://x.test/'), '<a href="HTTP://x.test/">');
  assert.equal(await html(link, ' mailto:a@b.test '), '<a href="mailto:a@b.test">');
  assert.equal(await html(link, 'https://x.test/a b\nc'), '<a href="https://x.test/a%20b%0Ac">');
  for (const value of [
    'javascript:alert(1)',
    'java\nscript:x',
    '\u0001javascript:x',
    'data:text/html,x',
    'ftp://x.test',
    '//x.test',
    '/path',
    'x.test',
    'https:',
    'http://',
    'https:x.test',
    'https://[',
    '',
  ]) {
    const message = await render({ html: link }, { A: value });
    assert.equal(message.html, '<a href="">', value);
    assert.deepEqual(
      message.warnings.map(({ code, field }) => [code, field]),
      [['link-emptied', 'A']],
    );
  }
});

test('elsewhere in a URL, a value is percent-encoded', async () => {
  assert.equal(
    await html('<a href="https://x.test/{{A}}?q={{A}}#{{A}}">', `a/b &'é`),
    `<a href="https://x.test/${'a%2Fb%20%26&#39;%C3%A9'}?q=${'a%2Fb%20%26&#39;%C3%A9'}#${'a%2Fb%20%26&#39;%C3%A9'}">`,
  );
  assert.equal(
    await html('<a href="mailto:{{A}}?subject=x">', 'a@b.test,c@d.test'),
    '<a href="mailto:a@b.test%2Cc@d.test?subject=x">',
  );
  assert.equal(
    await html('<a href="https://{{A}}.x.test/">', 'evil.test/'),
    '<a href="https://evil.test%2F.x.test/">',
  );
  assert.equal(
    await html('<a href="https://x.test/{{A}}">', 'a'.repeat(3)),
    '<a href="https://x.test/aaa">',
  );
});

test('the first visible field decides where a URL begins', async () => {
  const source = { html: '<a href="{{#A}}https://x.test/{{/A}}{{B}}">' };
  assert.equal(
    (await render(source, { A: '1', B: 'a/b' })).html,
    '<a href="https://x.test/a%2Fb">',
  );
  assert.equal((await render(source, { A: '', B: 'a/b' })).html, '<a href="">');
  assert.equal(
    (await render(source, { A: '', B: 'https://y.test/' })).html,
    '<a href="https://y.test/">',
  );
  const two = { html: '<a href="{{A}}{{B}}/x">' };
  assert.equal((await render(two, { A: '', B: 'https://y.test' })).html, '<a href="">');
  assert.equal(
    (await render(two, { A: 'https://y.test/', B: 'b c' })).html,
    '<a href="https://y.test/b%20c/x">',
  );
});

test('these rules apply to every attribute that holds a URL', async () => {
  for (const attribute of [
    'src',
    'action',
    'background',
    'cite',
    'poster',
    'formaction',
    'xlink:href',
    'HREF',
  ]) {
    assert.equal(await html(`<x ${attribute}="{{A}}">`, 'javascript:x'), `<x ${attribute}="">`);
  }
});

test('a style attribute accepts plain words and numbers; other values are omitted with a warning', async () => {
  const source = { html: '<p style="color: {{A}}; width: {{B}}">' };
  assert.equal(
    (await render(source, { A: '#ff0000', B: '50%' })).html,
    '<p style="color: #ff0000; width: 50%">',
  );
  for (const value of [
    'red; background: url(https://x.test)',
    'expression(alert(1))',
    'a:b',
    '}',
    '/*',
    '\\72 ed',
    '"',
    'a\nb',
  ]) {
    const message = await render(source, { A: value, B: '1px' });
    assert.equal(message.html, '<p style="color: ; width: 1px">', value);
    assert.equal(message.warnings[0]?.code, 'style-emptied');
  }
});

test('url() in a style follows the rules for URLs, and no value can close it', async () => {
  const whole = `<p style="background: url('{{A}}') top">`;
  assert.equal(
    await html(whole, `https://x.test/a'b)"c\\`),
    '<p style="background: url(&#39;https://x.test/a%27b%29%22c%5C&#39;) top">',
  );
  assert.equal(await html(whole, 'javascript:x'), '<p style="background: url(&#39;&#39;) top">');
  const part = '<p style="background:url(https://x.test/{{A}}.png)">';
  assert.equal(
    await html(part, "a') b("),
    '<p style="background:url(https://x.test/a%27%29%20b%28.png)">',
  );
});

test('subject and text are plain; line breaks and control characters in a subject become spaces', async () => {
  const { subject, text } = await render(
    { subject: 'S {{A}} {{{A}}}', text: '{{A}} {{{A}}}' },
    { A: '<b>&\r\nX: y' },
  );
  assert.equal(subject, 'S <b>& X: y <b>& X: y');
  assert.equal(text, '<b>&\nX: y <b>&\nX: y');
});

test('a section is shown if its field is filled, or if it is empty', async () => {
  const source = {
    subject: '{{#A}}y{{/A}}{{^A}}n{{/A}}',
    html: '<p>{{#A}}y{{/A}}{{^A}}n{{/A}}',
    text: '{{#A}}y{{/A}}{{^A}}n{{/A}}',
  };
  for (const [value, shown] of [
    ['x', 'y'],
    [' ', 'y'],
    ['0', 'y'],
    ['false', 'y'],
    ['', 'n'],
  ] as const) {
    const message = await render(source, { A: value });
    assert.deepEqual([message.subject, message.html, message.text], [shown, `<p>${shown}`, shown]);
  }
});

test('a value is never parsed as markup', async () => {
  const { html: rendered } = await render(
    { html: '{{A}}{{{A}}}', fields: { B: { default: 'x' } } },
    { A: '{{B}}$&$1' },
  );
  assert.equal(rendered, '{{B}}$&amp;$1{{B}}$&$1');
});
