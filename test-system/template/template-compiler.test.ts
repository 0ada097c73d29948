import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileTemplate, TemplateCompiler } from '../../src/content/template/template-compiler.ts';
import { templateProblemTexts } from '../../test/support/render-template.ts';
import { endless } from '../support/endless-template.ts';

test('a template that would take minutes to compile is rejected, and the next one still compiles', async () => {
  const compiler = new TemplateCompiler(1_500);
  const [slow, next] = await Promise.all([
    compiler.compile(endless),
    compiler.compile({ subject: 'Subject', text: 'Hello {{Name}}' }),
  ]);
  assert.equal(slow.compiled, null);
  assert.deepEqual(slow.problems, [
    {
      severity: 'error',
      part: 'html',
      rule: 'too-slow',
      message: 'takes more than 1.5 s to compile',
    },
  ]);
  assert.deepEqual(next.compiled?.required.body, ['Name']);
});

test('a template that styles expand beyond the size limit is an error', async () => {
  const style = `p{font-family:${Array.from({ length: 150 }, (_, at) => `font${at}`).join(',')}}`;
  const problems = await templateProblemTexts({
    html: `<style>${style}</style>${'<p>x</p>'.repeat(2_500)}`,
    text: 'x',
  });
  assert.deepEqual(problems, ['too-large -:- renders to a part larger than 2 MiB']);
});

test("compiling doesn't block the event loop", async () => {
  let turns = 0;
  const counting = setInterval(() => {
    turns += 1;
  }, 10);
  await new TemplateCompiler(1_500).compile(endless);
  clearInterval(counting);
  assert.ok(turns > 10, `${turns} turns in 1.5 s`);
});

test('elements nested too deeply for the libraries are an error of the template', async () => {
  const deep = 20_000;
  const inside = (before: string, after: string, open: string): string =>
    `${before}${open.repeat(deep)}${after}`;
  assert.match(
    (await templateProblemTexts({ html: '<div>'.repeat(deep) }))[0] ?? '',
    /^nested-too-deeply/,
  );
  assert.match(
    (
      await templateProblemTexts({ html: `<style>p{color:red}</style>${'<div>'.repeat(deep)}` })
    )[0] ?? '',
    /^nested-too-deeply/,
  );
  assert.match(
    (
      await templateProblemTexts({
        mjml: inside(
          '<mjml><mj-head><mj-preview>',
          '</mj-preview></mj-head><mj-body></mj-body></mjml>',
          '<i>',
        ),
      })
    )[0] ?? '',
    /^nested-too-deeply/,
  );
});

test('a field can have any name, including special property names', async () => {
  const fields = JSON.parse('{"__proto__": {"secret": true}, "constructor": {"default": "c"}}');
  const { compiled } = await compileTemplate({
    subject: 'Subject',
    text: '{{__proto__}} {{constructor}}',
    fields,
  });
  assert.deepEqual(compiled?.fields, [
    { name: '__proto__', parts: ['text'], secret: true },
    { name: 'constructor', parts: ['text'], secret: false, default: 'c' },
  ]);
});
