import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { clientSettings } from '../../src/base/database/open-database.ts';
import { answerOrder, runOrder } from '../child-program.ts';

interface InsertOrder {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  readonly bytes: number;
}

/** Inserts distinct contents, each in its own transaction, in a separate process. */
export function insertContents(order: InsertOrder): ReturnType<typeof insert> {
  return runOrder(import.meta.filename, order);
}

async function insert({ url, connections, seconds, bytes }: InsertOrder) {
  let inserted = 0;
  const open = () => new pg.Client(clientSettings({ url }));
  const clients = Array.from({ length: connections }, open);
  await Promise.all(clients.map((client) => client.connect()));
  const start = performance.now();
  const end = start + seconds * 1_000;
  const drive = async (client: pg.Client, index: number): Promise<void> => {
    const content = randomBytes(bytes);
    for (let count = 0; performance.now() < end; count += 1) {
      content.writeUInt32BE(index, 0);
      content.writeUInt32BE(count, 4);
      const text = 'insert into bench_content (content) values ($1)';
      await client.query({ name: 'insert-content', text, values: [content] });
      inserted += 1;
    }
    await client.end();
  };
  await Promise.all(clients.map(drive));
  return { inserted, seconds: (performance.now() - start) / 1_000 };
}

if (import.meta.main) await answerOrder(insert);
