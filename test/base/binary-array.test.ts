import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  booleanArray,
  bytesArray,
  intArray,
  smallintArray,
  textArray,
  uuidArray,
} from '../../src/base/database/binary-array.ts';
import { codePoint } from '../support/code-point.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { database } = await createTestDatabase();

async function readBack(type: string, array: Buffer): Promise<unknown> {
  const { rows } = await database.pool.query(`select $1::${type}[] as back`, [array]);
  return rows[0]?.back;
}

const storable = fc
  .string({ unit: codePoint, maxLength: 200 })
  .filter((text) => text.isWellFormed() && !text.includes('\0'));

const columns: [string, fc.Arbitrary<unknown[]>, (values: never) => Buffer][] = [
  [
    'text',
    fc.array(fc.option(storable, { nil: undefined })),
    textArray as (values: never) => Buffer,
  ],
  [
    'bytea',
    fc.array(
      fc.option(
        fc.uint8Array().map((bytes) => Buffer.from(bytes)),
        { nil: undefined },
      ),
    ),
    (values: readonly (Buffer | undefined)[]) =>
      bytesArray(values.map((bytes) => bytes?.toString('latin1'))),
  ],
  ['uuid', fc.array(fc.uuid()), uuidArray as never],
  ['int4', fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })), intArray as never],
  ['smallint', fc.array(fc.integer({ min: -(2 ** 15), max: 2 ** 15 - 1 })), smallintArray as never],
  ['boolean', fc.array(fc.boolean()), booleanArray as never],
];

for (const [type, values, encode] of columns) {
  test(`an array of ${type} round-trips`, async () => {
    await fc.assert(
      fc.asyncProperty(values, async (list) => {
        const expected = list.map((value) => value ?? null);
        assert.deepEqual(await readBack(type, encode(list as never)), expected);
      }),
    );
  });
}

test('an array of json round-trips with arbitrary text', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.dictionary(storable, storable)), async (list) => {
      const texts = list.map((value) => JSON.stringify(value));
      const { rows } = await database.pool.query(
        'select array_agg(item::text order by n) as back from unnest($1::json[]) with ordinality as i (item, n)',
        [textArray(texts, 'json')],
      );
      assert.deepEqual(rows[0]?.back ?? [], texts);
    }),
  );
});
