import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BodyTooLarge, BodyWriter } from '../../../src/content/rendering/body-writer.ts';
import { CheckedValues } from '../../../src/content/rendering/checked-values.ts';
import {
  type BodyPiece,
  loadTemplate,
  staticText,
} from '../../../src/content/rendering/load-template.ts';
import { type BodyContext, renderBody } from '../../../src/content/rendering/render-body.ts';
import { renderMessage } from '../../../src/content/rendering/render-message.ts';
import { RenderingTooLarge } from '../../../src/content/rendering/rendering-too-large.ts';
import type {
  CompiledNode,
  CompiledTemplate,
} from '../../../src/content/template/compiled-template.ts';
import { computeSizeBounds, findOversizedPart } from '../../../src/content/template/size-bounds.ts';
import { MAX_RENDERED_BYTES } from '../../../src/content/template/template-limits.ts';
import { openScope } from '../../../src/content/template/value-scope.ts';
import { codePoint } from '../../support/code-point.ts';
import { loadSource } from '../../support/render-template.ts';

const names = ['a', 'b', 'c'];
const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: codePoint, maxLength: 20 }).map((value) => value.toWellFormed()),
  fc.constantFrom('', 'https://a.test/', '<&"\'>', '\r\n', 'ж€😀'),
);
const name = fc.constantFrom(...names);
const { nodes } = fc.letrec<{ nodes: CompiledNode[]; node: CompiledNode }>((tie) => ({
  nodes: fc.array(tie('node'), { maxLength: 8, depthIdentifier: 'nodes' }),
  node: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'nodes' },
    text,
    fc.record({
      type: fc.constant('field' as const),
      name,
      as: fc.constantFrom('html' as const, 'raw' as const, 'plain' as const, 'css' as const),
    }),
    fc.record({
      type: fc.constant('section' as const),
      name,
      shown: fc.constantFrom('filled' as const, 'empty' as const),
      nodes: tie('nodes'),
    }),
    fc.record({
      type: fc.constant('url' as const),
      as: fc.constantFrom('attribute' as const, 'css' as const),
      nodes: fc.array(
        fc.oneof(
          text,
          fc.record({ type: fc.constant('field' as const), name, as: fc.constant('url' as const) }),
        ),
        { maxLength: 4 },
      ),
    }),
  ),
}));

function compiledOf(html: readonly CompiledNode[]): CompiledTemplate {
  return {
    format: 1,
    subject: [],
    previewText: [],
    html,
    text: null,
    fields: names.map((field) => ({ name: field, parts: ['html'], secret: false })),
    required: { subject: [], previewText: [], body: names },
    links: [],
  };
}

function bytesOf(pieces: readonly BodyPiece[]): number {
  return Buffer.byteLength(joined(pieces));
}

function joined(pieces: readonly BodyPiece[]): string {
  return pieces.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join('');
}

test('a bounded body equals the unbounded one if it fits, and is abandoned otherwise', () => {
  fc.assert(
    fc.property(
      nodes,
      fc.tuple(text, text, text),
      fc.integer({ min: 0, max: 2_000 }),
      (html, given, limit) => {
        const template = loadTemplate(compiledOf(html));
        const context: BodyContext = {
          names,
          values: given,
          scope: openScope(
            template.index,
            Object.fromEntries(names.map((one, at) => [one, given[at] ?? ''])),
          ),
          prefix: '',
          locale: 'en-US',
          checked: new CheckedValues(),
          preview: [],
          bodyEnd: '',
          rewriteLink: undefined,
          warn: () => undefined,
        };
        const loaded = template.html?.withLinks ?? [];
        const whole = renderBody(loaded, context, Number.POSITIVE_INFINITY);
        if (bytesOf(whole) <= limit)
          assert.equal(joined(renderBody(loaded, context, limit)), joined(whole));
        else assert.throws(() => renderBody(loaded, context, limit), BodyTooLarge);
      },
    ),
  );
});

test('a body never holds more bytes than its limit, whatever is added', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(text, text.map(staticText))),
      fc.integer({ min: 0, max: 300 }),
      (pieces, limit) => {
        const writer = new BodyWriter(limit);
        try {
          for (const piece of pieces) {
            if (typeof piece === 'string') writer.addText(piece);
            else writer.addStatic(piece);
          }
          assert.equal(joined(writer.pieces), joined(pieces));
        } catch (error) {
          assert.ok(error instanceof BodyTooLarge);
          assert.ok(bytesOf(pieces) > limit);
        }
        assert.ok(bytesOf(writer.pieces) <= limit);
      },
    ),
  );
});

test('a message rejected as certain to be too large could never have been rendered', () => {
  let refused = 0;
  const long = fc
    .tuple(text, fc.integer({ min: 0, max: 18 }))
    .map(([start, power]) => start.repeat(Math.ceil(2 ** power / (start.length + 1))));
  fc.assert(
    fc.property(
      nodes,
      fc.integer({ min: 1, max: 60 }),
      fc.tuple(long, long, long),
      (html, times, given) => {
        const compiled = compiledOf(Array.from({ length: times }, () => html).flat());
        const values = Object.fromEntries(names.map((field, at) => [field, given[at] ?? '']));
        const units = given.join('').length;
        if (findOversizedPart(compiled, computeSizeBounds(compiled), values, units) === undefined)
          return;
        refused += 1;
        assert.throws(() => renderMessage(loadTemplate(compiled), { values }), RenderingTooLarge);
      },
    ),
    { numRuns: 300 },
  );
  assert.ok(refused > 0, 'some were rejected');
});

const inItems = fc.tuple(nodes, nodes).map(
  ([item, deeper]): CompiledNode => ({
    type: 'each',
    name: 'L',
    nodes: [...item, { type: 'each', name: 'M', nodes: deeper }],
  }),
);
const anyValue = fc.oneof(
  text,
  fc.tuple(text, fc.nat(40_000)).map(([start, times]) => start.repeat(times)),
);
const record = fc.record({ a: anyValue, b: anyValue }, { requiredKeys: [] });
const items = fc.array(
  fc.tuple(record, fc.array(record, { maxLength: 6 })).map(([one, M]) => ({ ...one, M })),
  { maxLength: 12 },
);

function withItems(html: readonly CompiledNode[]): CompiledTemplate {
  const compiled = compiledOf(html);
  const plain = { parts: ['html'], secret: false } as const;
  const a = { name: 'a', ...plain, default: 'd'.repeat(300) };
  const inner = { name: 'M', ...plain, kind: 'list', fields: [a] } as const;
  const list = { name: 'L', ...plain, kind: 'list', fields: [a, inner] } as const;
  return { ...compiled, fields: [...compiled.fields, list] };
}

test('items rejected as certain to be too large could never have been rendered, and bounds are bounds', () => {
  let refused = 0;
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          nodes,
          inItems.map((node) => [node]),
        ),
        { maxLength: 6 },
      ),
      items,
      fc.tuple(text, text, text),
      (parts, L, given) => {
        const compiled = withItems(parts.flat());
        const values = { ...Object.fromEntries(names.map((one, at) => [one, given[at] ?? ''])), L };
        const template = loadTemplate(compiled);
        const units = JSON.stringify(values).length;
        const found = findOversizedPart(compiled, computeSizeBounds(compiled), values, units);
        if (found !== undefined) {
          refused += 1;
          assert.throws(() => renderMessage(template, { values }), RenderingTooLarge);
          return;
        }
        // Nothing that a bound lets through is found by measuring it.
        const measured = findOversizedPart(
          compiled,
          template.size,
          values,
          Number.MAX_SAFE_INTEGER,
        );
        assert.equal(measured, undefined);
      },
    ),
    // Few are so large that they are rejected: of 25, possibly none.
    { numRuns: Math.max(100, fc.readConfigureGlobal()?.numRuns ?? 0) },
  );
  assert.ok(refused > 0, 'some were rejected');
});

test('a part that exceeds the limit names the list whose items take the most space', async () => {
  const template = await loadSource({
    subject: 'Subject',
    html: '<p>{{Notes}}</p>{{#Items}}<p>{{Name}}</p>{{/Items}}',
    fields: { Items: { kind: 'list' } },
  });
  const Items = Array.from({ length: 500 }, () => ({ Name: 'n'.repeat(5_000) }));
  assert.throws(() => renderMessage(template, { values: { Notes: 'x', Items } }), {
    name: 'RenderingTooLarge',
    field: 'Items',
    message:
      'the HTML would be larger than 2 MiB; its largest field, Items, shows 2503500 characters',
  });
});

test('a part that exceeds the limit names the field that takes the most space', async () => {
  const template = await loadSource({
    subject: 'Subject',
    html: `<p>${'{{Small}}'.repeat(20)}${'{{Notes}}'.repeat(30)}</p>`,
  });
  const values = { Small: 'x', Notes: 'n'.repeat(100_000) };
  assert.throws(() => renderMessage(template, { values }), {
    name: 'RenderingTooLarge',
    field: 'Notes',
    message:
      'the HTML would be larger than 2 MiB; its largest field, Notes, has 100000 characters and is used 30 times',
  });
});

test('a subject with a thousand long values is truncated without being built in full', async () => {
  const template = await loadSource({ subject: '{{Notes}}'.repeat(200), text: 'Hello' });
  const { subject, warnings } = renderMessage(template, { values: { Notes: 'n'.repeat(250_000) } });
  assert.equal(subject, 'n'.repeat(998));
  assert.deepEqual(
    warnings.map(({ code }) => code),
    ['subject-cut'],
  );
});

test('a body can have exactly the maximum size', async () => {
  const template = await loadSource({ subject: 'Subject', text: '{{Notes}}' });
  const fits = { Notes: 'n'.repeat(MAX_RENDERED_BYTES) };
  assert.equal(renderMessage(template, { values: fits }).text?.length, MAX_RENDERED_BYTES);
  const tooLong = { Notes: `${fits.Notes}n` };
  assert.throws(() => renderMessage(template, { values: tooLong }), RenderingTooLarge);
});
