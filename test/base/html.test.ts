import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseFragment } from 'parse5';
import { Html, type HtmlValue, html } from '../../src/base/values/html.ts';
import { codePoint } from '../support/code-point.ts';
import { hostileText } from '../support/hostile-text.ts';

const text = fc.oneof(
  fc.string({ unit: codePoint }),
  fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', '=', '`', '/', 'a', ';', '#') }),
  hostileText(),
);

/** As HTML normalizes input: https://html.spec.whatwg.org/#preprocessing-the-input-stream and U+0000. */
const shown = (value: string) => value.replaceAll(/\r\n?/g, '\n').replaceAll('\0', '');

type Element = {
  readonly nodeName: string;
  readonly value?: string;
  readonly attrs: readonly { readonly name: string; readonly value: string }[];
  readonly childNodes: readonly Element[];
};

function parse(page: Html): readonly Element[] {
  return parseFragment(page.toString()).childNodes as unknown as readonly Element[];
}

test('whatever text stands for a value is text in the page, in an element and in an attribute', () => {
  fc.assert(
    fc.property(text, text, (content, attribute) => {
      fc.pre(!content.includes('\0') && !attribute.includes('\0'));
      const [element, ...others] = parse(html`<p title="${attribute}">${content}</p>`);
      assert.deepEqual(others, []);
      assert.deepEqual(element?.attrs, [{ name: 'title', value: shown(attribute) }]);
      assert.deepEqual(
        element?.childNodes.map(({ nodeName, value }) => [nodeName, value]),
        content === '' ? [] : [['#text', shown(content)]],
      );
    }),
  );
});

test('every value is escaped, at any depth of lists and templates', () => {
  const value: fc.Arbitrary<HtmlValue> = fc.letrec<{ value: HtmlValue }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.integer(),
      fc.constant(undefined),
      fc.array(tie('value'), { maxLength: 4 }),
      tie('value').map((inner) => html`${inner}`),
    ),
  })).value;
  fc.assert(
    fc.property(value, (given) => {
      assert.doesNotMatch(html`${given}`.toString(), /[<>"'=]|&(?!#\d+;)/);
    }),
  );
});

test('only what is marked as HTML stays as it is, once and not twice', () => {
  const mark = '<b title="a">&amp;</b>';
  assert.equal(html`${new Html(mark)}`.toString(), mark);
  assert.equal(html`${[html`<i>${'&'}</i>`, new Html(mark)]}`.toString(), `<i>&#38;</i>${mark}`);
  const lookalike = { toString: () => mark } as unknown as string;
  assert.equal(html`${lookalike}`.toString().includes('<b'), false);
});
