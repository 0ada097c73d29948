import { randomBytes } from 'node:crypto';
import { saveShop } from '../test/support/shop.ts';
import { insertContents } from './attachments/insert-contents.ts';
import { distinctBody, openBench, openLoad } from './bench-account.ts';
import { countRows } from './bench-database.ts';
import { type BenchOptions, type BenchResult, makeResult } from './bench-result.ts';
import { placeholder } from './load-generator.ts';
import { MemoryWatch } from './machine-use.ts';
import type { LoadTally } from './tally.ts';

const mebibyte = 1024 * 1024;
const connections = 8;
/** The generator numbers them, so that no content is sent twice. */
const distinctFiles = 32;
/** Small requests a second, a small share of what the service can take. */
const smallRate = 200;
const smallConnections = 32;

/**
 * Messages with a new attachment of 1 MiB, alternating with plain inserts; small requests alone, beside such messages, and
 * beside plain inserts, which show what the database and the disk allow.
 */
export async function benchAttachments(options: BenchOptions): Promise<BenchResult[]> {
  const { seconds, rounds } = options;
  await using opened = await openBench({ ...options, processes: 1 });
  const { database, service, shop, bench } = opened;
  const { pool } = database;
  await saveShop(database, { id: shop.id, attachmentLimit: 2 * mebibyte });
  await pool.query('create table bench_content (content bytea not null)');
  await pool.query('alter table bench_content alter column content set storage external');
  const attached = openLoad(opened, { connections, count: distinctFiles, makeBody: withFile });
  const openSmall = () => openLoad(opened, { connections: smallConnections, rate: smallRate });
  const [alone, beside, besidePlain] = [openSmall(), openSmall(), openSmall()];
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
    medians.push(memory.readAndReset().median);
    const plain = await insertPlain(seconds);
    inserted += plain.inserted;
    insertSeconds += plain.seconds;
    await alone.measure(options);
    await Promise.all([attached.run(seconds), beside.measure(options)]);
    await Promise.all([insertPlain(seconds), besidePlain.measure(options)]);
  }
  const stored = await countRows(database, 'attachment_content');
  if (stored !== attached.totalAnswered)
    throw new Error(`${attached.totalAnswered} sent, ${stored} stored`);
  const ceiling = inserted / insertSeconds;
  const [all, small] = [attached.result, alone.result];
  const params = { connections, mebibytes: 1, seconds, rounds, rss_mib: medians.join() };
  const smallParams = { connections: smallConnections, rate: smallRate, seconds, rounds };
  const compareSmall = (name: string, { result }: LoadTally) =>
    makeResult(name, smallParams, {
      ...result,
      ceiling: small.rate,
      ratio: Number((result.p99_ms / small.p99_ms).toFixed(2)),
      ceiling_p50_ms: small.p50_ms,
      ceiling_p99_ms: small.p99_ms,
    });
  return [
    makeResult('attachments', params, { ...all, ceiling }),
    compareSmall('attachments-beside', beside),
    compareSmall('inserts-beside', besidePlain),
  ];
}

/** The digits that replace the number are valid base64 too. */
function withFile(number: number): string {
  const base64 = randomBytes(mebibyte).toString('base64');
  const content = placeholder + base64.slice(placeholder.length);
  const file = { filename: 'label.bin', contentType: 'application/octet-stream', content };
  const message = JSON.parse(distinctBody(number)) as { content: object };
  message.content = { ...message.content, attachments: [file] };
  return JSON.stringify(message);
}
