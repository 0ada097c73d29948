import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { LargeValueClient } from '../../src/base/database/binary-array.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { url } = await createTestDatabase();
const statement = {
  name: 'hash-value',
  text: "select $1 as label, $2::int as number, encode(sha256($3::bytea), 'hex') as hash, octet_length($3::bytea) as length",
};

/** A value and what the statement returns for it. */
function draw(length: number, label: string | null) {
  const value = randomBytes(length);
  const hash = createHash('sha256').update(value).digest('hex');
  return { values: [label, 7, value], row: { label, number: 7, hash, length } };
}

async function connect(): Promise<LargeValueClient> {
  const client = new LargeValueClient({ connectionString: url });
  await client.connect();
  return client;
}

test('last values of any length arrive as they are, one statement after another', async () => {
  const client = await connect();
  for (const length of [0, 1, 65_535, 65_536, 65_537, 3_000_000, 5]) {
    const { values, row } = draw(length, length % 2 === 0 ? null : 'ä label');
    assert.deepEqual((await client.query({ ...statement, values })).rows, [row]);
  }
  await client.end();
});

test('a large value is sent from where it is', async () => {
  const client = await connect();
  const { values } = draw(1_000_000, 'label');
  const [, , value] = values;
  const sent: unknown[] = [];
  const { stream } = (client as unknown as { connection: { stream: NodeJS.WritableStream } })
    .connection;
  const write = stream.write.bind(stream) as (bytes: unknown) => boolean;
  stream.write = ((bytes: unknown) => {
    sent.push(bytes);
    return write(bytes);
  }) as typeof stream.write;
  await client.query({ ...statement, values });
  assert.ok(sent.includes(value));
  await client.end();
});

test('a connection can be used after a statement with a large value failed', async () => {
  const client = await connect();
  const text = 'select 1 / octet_length($1::bytea) - 1 / ($2::int - 7) as x, $3::bytea as y';
  const { values, row } = draw(100_000, 'label');
  await assert.rejects(
    client.query({ name: 'failing', text, values: [Buffer.alloc(1), 7, values[2]] }),
    { code: '22012' },
  );
  assert.deepEqual((await client.query({ ...statement, values })).rows, [row]);
  await client.end();
});
