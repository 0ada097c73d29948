import { randomBytes } from 'node:crypto';
import { getToken, saveShop } from '../test/support/shop.ts';
import { insertContents } from './attachments/insert-contents.ts';
import { distinctBody, openBenchAccount, wireRequests } from './bench-account.ts';
import { startBenchDatabase } from './bench-database.ts';
import { type BenchOptions, type BenchResult, makeResult } from './bench-result.ts';
import { startBenchService } from './bench-service.ts';
import { placeholder } from './load-generator.ts';
import { MemoryWatch } from './machine-use.ts';
import { LoadTally } from './tally.ts';

const mebibyte = 1024 * 1024;
const connections = 8;
/** The generator numbers them, so that each content is sent once. */
const distinctFiles = 32;
/** Small requests a second, a small share of what the service can take. */
const smallRate = 200;
const smallConnections = 32;

/**
 * Messages with an attachment of 1 MiB that the account has never sent, beside plain inserts of as many bytes over as many
 * connections, in turns; and small requests alone and beside such messages. Every content is looked for in the database.
 */
export async function benchAttachments(options: BenchOptions): Promise<BenchResult[]> {
  const { seconds, rounds } = options;
  await using bench = await startBenchDatabase();
  const { pool } = bench.database;
  const shop = await openBenchAccount(bench.database);
  await saveShop(bench.database, { id: shop.id, attachmentLimit: 2 * mebibyte });
  await pool.query('create table bench_content (content bytea not null)');
  await pool.query('alter table bench_content alter column content set storage external');
  await using service = await startBenchService(bench, { ...options, processes: 1 });
  const token = await getToken(service, shop);
  const attached = new LoadTally(service, { connections, requests: wireFiles(shop.id, token) });
  const openSmall = () =>
    new LoadTally(service, {
      connections: smallConnections,
      rate: smallRate,
      requests: wireRequests({ token, accountIds: [shop.id] }),
    });
  const [alone, beside] = [openSmall(), openSmall()];
  let inserted = 0;
  let insertSeconds = 0;
  const insertPlain = async (measured: number) => {
    const order = { url: bench.url, connections, seconds: measured, bytes: mebibyte };
    const report = await insertContents(order);
    await pool.query('truncate bench_content');
    return report;
  };
  await attached.run(seconds / 2);
  await insertPlain(seconds / 2);
  await alone.run(seconds / 2);
  using memory = new MemoryWatch(service);
  const medians: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    memory.readAndReset();
    await attached.measure(options);
    medians.push(Math.round(memory.readAndReset().median));
    const plain = await insertPlain(seconds);
    inserted += plain.inserted;
    insertSeconds += plain.seconds;
    await alone.measure(options);
    await Promise.all([attached.run(seconds), beside.measure(options)]);
  }
  const { rows } = await pool.query<{ stored: number }>(
    'select count(*)::int as stored from attachment_content',
  );
  if (rows[0]?.stored !== attached.totalAnswered)
    throw new Error(`${attached.totalAnswered} sent, ${rows[0]?.stored} stored`);
  const ceiling = inserted / insertSeconds;
  const [all, small] = [attached.result, alone.result];
  const params = { connections, mebibytes: 1, seconds, rounds, rss_mib: medians.join() };
  const smallParams = { connections: smallConnections, rate: smallRate, seconds, rounds };
  return [
    makeResult('attachments', params, { ...all, ceiling }),
    makeResult('attachments-beside', smallParams, {
      ...beside.result,
      ceiling: small.rate,
      ratio: Number((beside.result.p99_ms / small.p99_ms).toFixed(2)),
      ceiling_p50_ms: small.p50_ms,
      ceiling_p99_ms: small.p99_ms,
    }),
  ];
}

/** Messages as they go over the wire. Digits in the place of the number are base64 too. */
function wireFiles(accountId: string, token: string): string[] {
  return Array.from({ length: distinctFiles }, (_, index) => {
    const base64 = randomBytes(mebibyte).toString('base64');
    const content = placeholder + base64.slice(placeholder.length);
    const file = { filename: 'label.bin', contentType: 'application/octet-stream', content };
    const message = JSON.parse(distinctBody(index)) as { content: object };
    message.content = { ...message.content, attachments: [file] };
    const body = JSON.stringify(message);
    return [
      `POST /ete/v1/email/${accountId}/t-0001 HTTP/1.1`,
      'Host: 127.0.0.1',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n');
  });
}
