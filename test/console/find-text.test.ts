import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findFirstText, findText } from '../../console/src/template/editor/find-text.ts';

const source = `<mj-text>
  Hello {{First Name}}, your order
  {{Order Number}} is on its way. Fish &amp; chips (2 for €5.00) &mdash; enjoy!
</mj-text>`;

function found(rendered: string): string | undefined {
  const range = findText(source, rendered);
  return range && source.slice(range.from, range.to);
}

test('text between fields is found by its longest part', () => {
  assert.equal(found('Hello Ada, your order A-1001 is on its way.'), 'is on its way.');
});

test('text is found across line breaks of the source', () => {
  assert.equal(found('your order'), 'your order');
  assert.equal(found(', your order'), ', your order');
});

test('characters that the source writes as entities are found', () => {
  assert.equal(found('Fish & chips'), 'Fish &amp; chips');
  assert.equal(found('— enjoy!'), '&mdash; enjoy!');
});

test('characters that mean something in patterns are found', () => {
  assert.equal(found('(2 for €5.00)'), '(2 for €5.00)');
});

test('values and single letters are not found', () => {
  assert.equal(found('Ada'), undefined);
  assert.equal(found('a'), undefined);
  assert.equal(found(''), undefined);
});

test('the first text that readers see is found behind the head of a template', () => {
  const head = '<mjml><mj-head><mj-title>Order</mj-title></mj-head>';
  const template = `${head}<mj-body>\n<mj-text>\n  Hello</mj-text></mj-body></mjml>`;
  assert.equal(template.slice(findFirstText(template)).slice(0, 5), 'Hello');
  assert.equal(findFirstText('Hello'), 0);
  assert.equal(findFirstText('<p></p>'), 0);
});

test('the text found for a click is always part of what was clicked', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      const range = findText(text, text);
      if (range === undefined) return;
      const words = text.split(/\s+/).filter(Boolean).slice(0, 30);
      assert.deepEqual(text.slice(range.from, range.to).trim().split(/\s+/), words);
    }),
  );
});
