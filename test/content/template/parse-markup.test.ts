import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Markup, parseMarkup } from '../../../src/content/template/parse-markup.ts';
import {
  MAX_COMMENT_LENGTH,
  MAX_FIELDS,
  MAX_NESTING,
  MAX_TAGS,
} from '../../../src/content/template/template-limits.ts';
import { assertQuick } from '../../support/assert-quick.ts';

function markup(source: string): Markup {
  const parsed = parseMarkup(source);
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.error.message);
  return parsed.markup;
}

function rule(source: string): string {
  const parsed = parseMarkup(source);
  assert.ok(!parsed.ok, `${source} was accepted`);
  const { rule: name, position } = parsed.error;
  return position === undefined ? name : `${name} ${position.line}:${position.column}`;
}

test('field names are kept as written, except for surrounding spaces', () => {
  for (const name of [
    'First Name',
    'Account.COMPANY',
    'Имя клиента',
    '名前',
    'Größe (cm)',
    'a&b',
    'x/y',
  ]) {
    for (const source of [`{{${name}}}`, `{{ ${name} }}`, `{{\t${name}\n}}`]) {
      assert.deepEqual(markup(source).nodes, [{ type: 'field', name, raw: false }]);
    }
  }
});

test('names from Object.prototype are ordinary fields', () => {
  const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];
  assert.deepEqual(markup(names.map((name) => `{{${name}}}`).join('')).fields, names);
});

test('triple braces and an ampersand mark raw fields', () => {
  for (const source of ['{{{A B}}}', '{{{ A B }}}', '{{&A B}}', '{{& A B }}']) {
    assert.deepEqual(markup(source).nodes, [{ type: 'field', name: 'A B', raw: true }]);
  }
});

test('sections can be nested, and their names count as fields', () => {
  assert.deepEqual(markup('{{#A}}1{{^B}}2{{/B}}{{/A}}3'), {
    nodes: [
      {
        type: 'section',
        name: 'A',
        shown: 'filled',
        nodes: ['1', { type: 'section', name: 'B', shown: 'empty', nodes: ['2'] }],
      },
      '3',
    ],
    tags: [
      { kind: 'filled', name: 'A', start: 0, end: 6 },
      { kind: 'empty', name: 'B', start: 7, end: 13 },
      { kind: 'close', name: 'B', start: 14, end: 20 },
      { kind: 'close', name: 'A', start: 20, end: 26 },
    ],
    fields: ['A', 'B'],
  });
});

test('comments are removed, whatever they contain', () => {
  assert.equal(markup('a{{! {single} > = \n }}b').nodes.join(''), 'ab');
});

test("text that isn't a tag is unchanged", () => {
  for (const source of ['', 'a { b } c', '}} }', '{ {a} }', '$& $1']) {
    assert.equal(markup(source).nodes.join(''), source);
  }
});

test('partials, delimiter changes and {{.}} are rejected with their position', () => {
  assert.equal(rule('a\n {{> other}}'), 'partial 2:2');
  assert.equal(rule('{{=<% %>=}}'), 'delimiter-change 1:1');
  assert.equal(rule('😀{{.}}'), 'dot 1:2');
  assert.equal(rule('{{#.}}{{/.}}'), 'dot 1:1');
});

test('malformed tags are rejected with their position', () => {
  assert.equal(rule('{{'), 'unclosed-tag 1:1');
  assert.equal(rule('ok\nok {{Name'), 'unclosed-tag 2:4');
  assert.equal(rule('{{{Name}}'), 'unclosed-tag 1:1');
  assert.equal(rule('{{ }}'), 'empty-name 1:1');
  assert.equal(rule('{{#}}{{/}}'), 'empty-name 1:1');
  assert.equal(rule('{{a {{b}}'), 'bad-name 1:1');
  assert.equal(rule('{{<b>Name</b>}}'), 'bad-name 1:1');
  assert.equal(rule('{{a\nb}}'), 'bad-name 1:1');
  assert.equal(rule('{{#A}}'), 'unclosed-section 1:1');
  assert.equal(rule('x{{/A}}'), 'unopened-section 1:2');
  assert.equal(rule('{{#A}}\n{{#B}}{{/A}}{{/B}}'), 'unclosed-section 2:1');
});

test('each limit accepts its maximum and rejects one more', () => {
  const nested = (depth: number) => '{{#A}}'.repeat(depth) + '{{/A}}'.repeat(depth);
  markup(nested(MAX_NESTING));
  assert.match(rule(nested(MAX_NESTING + 1)), /nested-too-deeply/);
  markup('{{A}}'.repeat(MAX_TAGS));
  assert.match(rule('{{A}}'.repeat(MAX_TAGS + 1)), /too-many-tags/);
  const fields = (count: number) => Array.from({ length: count }, (_, i) => `{{F${i}}}`).join('');
  markup(fields(MAX_FIELDS));
  assert.match(rule(fields(MAX_FIELDS + 1)), /too-many-fields/);
  markup(`{{${'😀'.repeat(120)}}}`);
  assert.match(rule(`{{${'😀'.repeat(121)}}}`), /name-too-long/);
  markup(`{{!${'x'.repeat(MAX_COMMENT_LENGTH - 1)}}}`);
  assert.match(rule(`{{!${'x'.repeat(MAX_COMMENT_LENGTH)}}}`), /tag-too-long/);
});

test('hostile sources are parsed quickly', () => {
  const spaces = ' '.repeat(500_000);
  const sources = [
    `{{${spaces}`,
    `{{a${spaces}}}`,
    `{{a}}${spaces}{{b}}${spaces}`,
    '{{'.repeat(250_000),
    '{{#a}}'.repeat(80_000),
    `${'{{a}}'.repeat(900)}${'{'.repeat(400_000)}`,
    `{{!${spaces}`,
  ];
  assertQuick(20_000, () => {
    for (const source of sources) parseMarkup(source);
  });
});

test('no source makes the parser throw, and tags are where it says', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '{{',
      '}}',
      '{{{',
      '}}}',
      '#',
      '^',
      '/',
      '!',
      '&',
      '>',
      '=',
      ' ',
      '\n',
      '.',
      'A',
      'B b',
    ),
    fc.constantFrom('{{A}}', '{{#A}}', '{{/A}}', '{{^A}}', '{{! c }}', '{{{A}}}', '{{&B b}}'),
    fc.string({ unit: 'grapheme', maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const source = pieces.join('');
      const parsed = parseMarkup(source);
      if (!parsed.ok) return;
      for (const { start, end, name } of parsed.markup.tags) {
        assert.ok(source.startsWith('{{', start));
        assert.ok(source.slice(start, end).endsWith('}}'));
        assert.ok(source.slice(start, end).includes(name));
      }
    }),
  );
});
