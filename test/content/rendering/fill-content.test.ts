import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillContent } from '../../../src/content/rendering/fill-content.ts';
import { fillContentJob } from '../../../src/content/rendering/fill-content-job.ts';

function fill(content: object) {
  return fillContentJob({ source: Buffer.from(JSON.stringify({ values: {}, ...content })) });
}

test('content is filled as a template’s, and its HTML stays as it was written', async () => {
  const html =
    '<style>\n  p > b { color: red }\n</style>\n<P Class=x>{{A}}<br/>&nbsp;</P><!-- {{! no }} -->';
  const result = await fill({ subject: 'S {{A}}', html, values: { A: '<b>' } });
  assert.ok(result.kind === 'filled');
  assert.equal(result.subject, 'S <b>');
  assert.equal(
    result.html,
    '<style>\n  p > b { color: red }\n</style>\n<P Class=x>&lt;b&gt;<br/>&nbsp;</P><!--  -->',
  );
  assert.equal(result.text, null);
});

test('a problem says where it is', async () => {
  assert.deepEqual(await fill({ subject: 'S', text: 'a\n{{#B}}' }), {
    kind: 'invalid',
    problems: [
      {
        field: 'content.text',
        reason: 'the section {{#B}} is not closed by the end (line 2, column 1)',
      },
    ],
  });
  assert.deepEqual(await fill({ subject: '{{A}}', text: '{{B}} {{A}}' }), {
    kind: 'incomplete',
    missing: ['content.personalizationDataMap.A', 'content.personalizationDataMap.B'],
  });
});

test('an account’s content doesn’t wait for another’s, however deep its HTML is', async () => {
  const deep = '<i>'.repeat(90_000);
  const [slow, quick] = await Promise.all([
    fillContent({ subject: 'S', html: `${deep}{{A}}`, values: { A: 'a' } }, 'one'),
    fillContent({ subject: 'S {{A}}', text: 'x', values: { A: 'a' } }, 'two'),
  ]);
  assert.ok(['filled', 'invalid'].includes(slow.kind), slow.kind);
  assert.deepEqual(quick, { kind: 'filled', subject: 'S a', html: null, text: 'x' });
});
