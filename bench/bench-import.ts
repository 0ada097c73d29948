import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { addKey } from '../test/support/api-key.ts';
import { openBench } from './bench-account.ts';
import { type BenchOptions, type BenchResult, makeResult } from './bench-result.ts';
import { MemoryWatch } from './machine-use.ts';

const contacts = 1_000_000;

/** Imports a million contacts over HTTP and exports them again; the export is the ceiling. */
export async function benchImport({ nodeOptions }: BenchOptions): Promise<BenchResult[]> {
  await using bench = await openBench({ nodeOptions, processes: 1 });
  const { database, service, shop } = bench;
  const authorization = `Bearer ${await addKey(database, shop.id)}`;
  const list = `${service.url}/manage/v1/accounts/${shop.id}/lists/bench`;
  const ask = async (url: string, type?: string, body?: RequestInit['body']) => {
    const response = await fetch(url, {
      method: body === undefined ? 'GET' : 'PUT',
      headers: { authorization, ...(type !== undefined && { 'content-type': type }) },
      body,
      duplex: 'half',
    } as RequestInit);
    if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
    return response;
  };
  await ask(list, 'application/json', '{"name":"Bench"}');
  using memory = new MemoryWatch(service);
  const before = memory.readAndReset().peak;
  const address = `${list}/imports/${randomUUID()}`;
  const importing = performance.now();
  await ask(address, 'text/csv', Readable.toWeb(Readable.from(rows())) as ReadableStream);
  let state: { readonly state?: string; readonly rowsWritten?: number };
  do {
    await delay(200);
    state = (await (await ask(address)).json()) as typeof state;
  } while (state.state === 'running');
  if (state.rowsWritten !== contacts) throw new Error(JSON.stringify(state));
  const exporting = performance.now();
  let bytes = 0;
  const { body } = await ask(`${list}/export`);
  for await (const chunk of body ?? []) bytes += chunk.length;
  const memoryParams = { rss_before_mb: before, rss_peak_mb: memory.readAndReset().peak };
  const params = { contacts, file_mb: Math.round(bytes / 1e6), ...memoryParams };
  const rate = (contacts * 1_000) / (exporting - importing);
  const ceiling = (contacts * 1_000) / (performance.now() - exporting);
  return [makeResult('import', params, { rate, ceiling })];
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
