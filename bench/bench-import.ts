import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { addKey } from '../test/support/api-key.ts';
import { openBenchAccount } from './bench-account.ts';
import { startBenchDatabase } from './bench-database.ts';
import type { BenchOptions, BenchResult } from './bench-result.ts';
import { startBenchService } from './bench-service.ts';
import { MemoryWatch } from './deliver/memory-watch.ts';

const contacts = 1_000_000;

/**
 * Imports a list of a million contacts over HTTP and exports it again, with the most memory (resident set) that the
 * service's process took meanwhile beside what it took before. The ceiling of the rates is the export's.
 */
export async function benchImport({ nodeOptions }: BenchOptions): Promise<BenchResult[]> {
  await using database = await startBenchDatabase();
  const shop = await openBenchAccount(database.database);
  await using service = await startBenchService(database.url, {
    nodeOptions,
    processes: 1,
    roles: 'http',
  });
  const base = `http://127.0.0.1:${service.port}`;
  const token = await addKey(database.database, shop.id);
  using memory = new MemoryWatch(service);
  const list = `${base}/manage/v1/accounts/${shop.id}/lists/bench`;
  const ask = async (url: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${token}`, ...(init.headers as object) };
    const answer = await fetch(url, { ...init, headers });
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  await ask(list, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: '{"name":"Bench"}',
  });
  const before = Math.round(memory.readAndReset().peak);
  const address = `${list}/imports/${randomUUID()}`;
  const started = performance.now();
  await ask(address, {
    method: 'PUT',
    headers: { 'content-type': 'text/csv' },
    body: Readable.toWeb(Readable.from(rows())) as ReadableStream,
    duplex: 'half',
  } as RequestInit);
  let state: Record<string, unknown>;
  do {
    await pause(200);
    state = (await (await ask(address)).json()) as Record<string, unknown>;
  } while (state.state === 'running');
  if (state.rowsWritten !== contacts) throw new Error(JSON.stringify(state));
  const importSeconds = (performance.now() - started) / 1_000;
  const exporting = performance.now();
  let bytes = 0;
  const file = await ask(`${list}/export`);
  for await (const chunk of file.body as unknown as AsyncIterable<Uint8Array>)
    bytes += chunk.length;
  const exportSeconds = (performance.now() - exporting) / 1_000;
  const rate = contacts / importSeconds;
  const ceiling = contacts / exportSeconds;
  return [
    {
      name: 'import',
      params: {
        contacts,
        file_mb: Math.round(bytes / 1e6),
        rss_before_mb: before,
        rss_peak_mb: Math.round(memory.readAndReset().peak),
      },
      rate: Math.round(rate),
      ceiling: Math.round(ceiling),
      ratio: rate / ceiling,
      p50_ms: 0,
      p99_ms: 0,
    },
  ];
}

function* rows(): Generator<string> {
  yield 'email,First Name,City,Customer Since\r\n';
  for (let from = 0; from < contacts; from += 1_000) {
    let text = '';
    for (let n = from; n < from + 1_000; n += 1)
      text += `reader${n}@people${n % 997}.test,Reader ${n},"Ulan Bator, ${n % 50}",2026-01-0${(n % 9) + 1}\r\n`;
    yield text;
  }
}
