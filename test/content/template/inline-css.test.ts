import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileVersion } from '../../../src/content/template/compile-version.ts';

/** The static HTML of a template, with `[name]` in place of a field. */
async function inlined(html: string): Promise<string> {
  const { compiled, problems } = await compileVersion({ source: { subject: 'S', html } });
  assert.deepEqual(
    problems.filter(({ severity }) => severity === 'error'),
    [],
    html,
  );
  return (compiled?.html ?? [])
    .map((node) => (typeof node === 'string' ? node : 'name' in node ? `[${node.name}]` : ''))
    .join('');
}

const red = '<style>p{color:red}</style>';

const cases: readonly (readonly [what: string, html: string, expected: string])[] = [
  [
    'a string in character references',
    `${red}<p style="font-family:&quot;A B&quot;,serif">x</p>`,
    `<p style="color: red; font-family: 'A B',serif;">x</p>`,
  ],
  [
    'a string with an apostrophe',
    `${red}<p style="content:&quot;it's&quot;">x</p>`,
    `<p style="color: red;">x</p>`,
  ],
  [
    'an ampersand in a URL',
    `${red}<p style="background:url(https://x.test/?a=1&amp;copy=2)">x</p>`,
    `<p style="color: red; background: url(https://x.test/?a=1&amp;copy=2);">x</p>`,
  ],
  ...[';', ' ', 'bold', 'color:', ':red', '}', '/* color:blue */'].map(
    (style) =>
      [
        `a malformed declaration (${style})`,
        `${red}<p style="${style}">x</p>`,
        '<p style="color: red;">x</p>',
      ] as const,
  ),
  [
    'a malformed declaration before a good one',
    `${red}<p style="margin 0; padding:0">x</p>`,
    '<p style="color: red; padding: 0;">x</p>',
  ],
  [
    'a field in place of declarations',
    `${red}<p style="{{style}}">x</p>`,
    '<p style="color: red; [style];">x</p>',
  ],
  [
    'a malformed declaration of a rule',
    '<style>p{color:red;oops;}</style><p>x</p>',
    '<p style="color: red;">x</p>',
  ],
  [
    'an import whose URL has semicolons',
    '<style>@import url(https://fonts.test/css2?family=A:wght@400;700);p{color:red}</style><p>x</p>',
    '<style>@import url(https://fonts.test/css2?family=A:wght@400;700);</style><p style="color: red;">x</p>',
  ],
  [
    'an element for print',
    '<style media="print">p{color:red}</style><p>x</p>',
    '<style media="print">p{color:red}</style><p>x</p>',
  ],
  [
    'comments around a style sheet',
    '<style><!-- p{color:red} --></style><p>x</p>',
    '<p style="color: red;">x</p>',
  ],
  ['an unclosed rule', '<style>p{color:red</style><p>x</p>', '<p style="color: red;">x</p>'],
  [
    'a style sheet for Outlook only',
    '<!--[if mso]><style>td{mso-x:1}</style><![endif]--><p>x</p>',
    '<!--[if mso]><style>td{mso-x:1}</style><![endif]--><p>x</p>',
  ],
  [
    'an unclosed comment',
    `${red}<p>x</p><!-- <style>`,
    '<p style="color: red;">x</p><!-- <style>-->',
  ],
];

for (const [what, html, expected] of cases)
  test(`CSS with ${what} is inlined as a browser reads it`, async () => {
    assert.equal(await inlined(html), expected);
  });

test('rules that match nothing in the template stay, as mail programs add what they match', async () => {
  for (const selector of [
    '.ExternalClass',
    '#outlook a',
    'a[x-apple-data-detectors]',
    'u + #body a',
    '#MessageViewBody a',
    '[data-ogsc] p',
    'p:hover',
  ]) {
    const html = await inlined(`<style>${selector}{width:100%}p{color:red}</style><p>x</p>`);
    assert.ok(html.includes(`${selector} {\n  width: 100%;\n}`), html);
    assert.ok(html.includes('<p style="color: red;">'), html);
  }
  const atRule = '@supports (display:grid){p{color:blue}}';
  assert.ok((await inlined(`<style>${atRule}</style><p>x</p>`)).includes(atRule));
  const inMso = `<style>.m{color:red}</style><!--[if mso]><p class="m">x</p><![endif]-->`;
  assert.match(await inlined(inMso), /\.m \{\n {2}color: red;\n\}/);
});

test('a style of MJML that is inlined accepts character references', async () => {
  const { compiled, problems } = await compileVersion({
    source: {
      subject: 'S',
      mjml: `<mjml><mj-head><mj-style inline="inline">p{color:red}</mj-style></mj-head><mj-body><mj-section><mj-column>
      <mj-text><p style="font-family:&quot;A&quot;">x</p></mj-text></mj-column></mj-section></mj-body></mjml>`,
    },
  });
  assert.deepEqual(problems, []);
  assert.match(JSON.stringify(compiled?.html), /font-family: 'A'/);
});
