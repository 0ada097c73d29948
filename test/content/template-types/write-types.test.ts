import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { TypesFailure } from '../../../src/content/template-types/management-connection.ts';
import { readTypes } from '../../../src/content/template-types/read-types.ts';
import { compareTypes } from '../../../src/content/template-types/save-types.ts';
import {
  type FieldShape,
  inOrder,
  type TemplateShape,
} from '../../../src/content/template-types/template-shape.ts';
import { readOpenapi, writeOpenapi } from '../../../src/content/template-types/write-openapi.ts';
import { writeTypes } from '../../../src/content/template-types/write-types.ts';
import { codePoint } from '../../support/code-point.ts';

const compiler = join(import.meta.dirname, '../../../node_modules/typescript/bin/tsc');

const text = (name: string, required = true): FieldShape => ({ name, kind: 'text', required });

/** Names and descriptions that try to end a string, a comment or the interface. */
const hostile = fc.oneof(
  fc.string({ unit: codePoint, minLength: 1, maxLength: 12 }),
  fc.constantFrom(
    "'",
    '\\',
    "\\'",
    "'; }; } import 'x'; //",
    '*/',
    '*/ } export const broken = 1; /*',
    '`$',
    '\u2028',
    '\u202E abc',
    '\r\n',
    '__proto__',
    'constructor',
    '[key: string]',
    '// @ts-ignore',
    '1',
    'Ä',
    '😀',
  ),
);

const fieldsOf = (depth: number): fc.Arbitrary<FieldShape[]> =>
  fc.uniqueArray(
    fc.oneof(
      fc.record({
        name: hostile,
        kind: fc.constant('text' as const),
        required: fc.boolean(),
        description: fc.option(hostile),
      }),
      ...(depth === 0
        ? []
        : [
            fc.record({
              name: hostile,
              kind: fc.constantFrom('list' as const, 'object' as const),
              required: fc.boolean(),
              description: fc.option(hostile),
              fields: fieldsOf(depth - 1),
            }),
          ]),
    ),
    { maxLength: 4, selector: ({ name }) => name },
  );

const shapes = fc.uniqueArray(
  fc.record({
    id: hostile,
    fields: fieldsOf(2),
    locales: fc.uniqueArray(hostile, { maxLength: 3 }),
  }),
  { maxLength: 4, selector: ({ id }) => id },
);

test('whatever names and descriptions contain, the file says the same templates', () => {
  fc.assert(
    fc.property(shapes, (templates) => {
      const written = writeTypes(templates);
      assert.deepEqual(compareTypes(templates, readTypes(written)), []);
      assert.equal(writeTypes(readTypes(written)), writeTypes(templates.map(undescribed)));
    }),
  );
});

function undescribed(template: TemplateShape): TemplateShape {
  const clear = (fields: readonly FieldShape[]): FieldShape[] =>
    fields.map(({ description: _none, ...field }) => ({
      ...field,
      ...(field.fields === undefined ? {} : { fields: clear(field.fields) }),
    }));
  return { ...template, fields: clear(template.fields) };
}

test('an OpenAPI document says the same templates, whatever their names contain', () => {
  fc.assert(
    fc.property(shapes, (templates) => {
      assert.equal(writeTypes(readOpenapi(writeOpenapi(templates))), writeTypes(templates));
    }),
  );
});

test('a document that something else wrote is refused', () => {
  for (const text of [
    '',
    '{}',
    '{"paths":{"/token":{}}}',
    '{"paths":{"/ete/v1/email/{account_id}/a":{}}}',
  ])
    assert.throws(() => readOpenapi(text), TypesFailure);
});

test('the compiler reads exactly the names of templates, fields and languages', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'write-types-'));
  try {
    const files: string[] = [];
    for (const [index, templates] of fc.sample(shapes, 40).entries()) {
      const module = `./m${index}.ts`;
      await writeFile(join(folder, module), 'export interface Templates {}\n');
      const written = writeTypes(templates).replace("'signalpost-client'", `'${module}'`);
      await writeFile(join(folder, `t${index}.d.ts`), written);
      const checks = templates.map(
        ({ id, fields, locales = [] }, at) => `
 export const fields${at}: Equal<keyof Templates[${JSON.stringify(id)}]['data'], ${fields.length === 0 ? 'string' : union(fields.map(({ name }) => name))}> = true;
 export const locales${at}: Equal<Templates[${JSON.stringify(id)}]['locale'], ${union(locales)}> = true;`,
      );
      await writeFile(
        join(folder, `c${index}.ts`),
        `import type { Templates } from '${module}';
type Equal<A, B> = [A, B] extends [B, A] ? true : false;
 export const ids: Equal<keyof Templates, ${union(templates.map(({ id }) => id))}> = true;${checks.join('')}
`,
      );
      files.push(`t${index}.d.ts`, `c${index}.ts`);
    }
    const options = [
      '--strict',
      '--noEmit',
      '--module',
      'nodenext',
      '--allowImportingTsExtensions',
    ];
    const run = promisify(execFile);
    const failure = await run(process.execPath, [compiler, ...options, ...files], {
      cwd: folder,
    }).then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    );
    assert.equal(failure, '');
  } finally {
    await rm(folder, { recursive: true });
  }
});

function union(names: readonly string[]): string {
  return names.length === 0 ? 'never' : names.map((name) => JSON.stringify(name)).join(' | ');
}

test('the same templates give the same file in any order', () => {
  fc.assert(
    fc.property(shapes, (templates) => {
      const reversed = templates
        .map((template) => ({ ...template, fields: template.fields.toReversed() }))
        .reverse();
      assert.equal(writeTypes(reversed), writeTypes(templates));
    }),
  );
  assert.deepEqual(
    inOrder(['b', 'B', 'a'], (name) => name),
    ['B', 'a', 'b'],
  );
});

const receipt: TemplateShape = {
  id: 'receipt',
  fields: [
    text('Order Number'),
    text('Note', false),
    { name: 'Items', kind: 'list', required: true, fields: [text('Name')] },
  ],
  locales: ['de', 'en'],
};

test('a formatter may change the file', () => {
  const formatted = `// A license.
export {}

declare module "signalpost-client" {
  interface Templates {
    "receipt": {
      data: { "Order Number": string, Note?: string, Items: readonly { Name: string }[] },
      locale:
        | "de"
        | "en",
    },
  }
}
`;
  assert.deepEqual(compareTypes(readTypes(formatted), [receipt]), []);
});

test('a file of something else is refused', () => {
  for (const other of [
    '',
    'export {};',
    'declare global {}',
    writeTypes([receipt]).replace('string', 'number'),
    `${writeTypes([receipt])}\nexport const more = 1;`,
    writeTypes([receipt]).slice(0, -4),
    `export {}; declare module 'signalpost-client' { interface Templates { a: { data: ${'{ a: '.repeat(5_000)}`,
  ])
    assert.throws(() => readTypes(other), TypesFailure);
});

test('changes are told by template, field and language', () => {
  const now: TemplateShape[] = [
    {
      id: 'receipt',
      fields: [
        { name: 'Order Number', kind: 'object', required: true, fields: [] },
        text('Note'),
        {
          name: 'Items',
          kind: 'list',
          required: false,
          fields: [text('Title'), text('Price', false)],
        },
        text("'\n"),
      ],
      locales: ['de', 'fr'],
    },
    { id: 'welcome', fields: [] },
  ];
  assert.deepEqual(compareTypes([receipt, { id: 'old', fields: [] }], now), [
    'old was removed',
    'receipt: field "\'\\n" was added and is required',
    'receipt: field Items is now optional',
    'receipt: field Items[].Name was removed',
    'receipt: field Items[].Price was added and is optional',
    'receipt: field Items[].Title was added and is required',
    'receipt: field Note is now required',
    'receipt: field Order Number is now object, not text',
    'receipt: language en was removed',
    'receipt: language fr was added',
    'welcome was added',
  ]);
});
