import { randomUUID } from 'node:crypto';
import { routeTable } from '../src/management/route-table.ts';
import type { BenchProgram } from './bench-program.ts';
import type { BenchOptions, BenchResult } from './bench-result.ts';
import { measureReading, onHistory } from './feedback/bench-reading.ts';
import type { ReadingCase } from './feedback/reading-cases.ts';

/** Milliseconds that a page of any list may take. */
const limit = 100;

/** Every list of the management API, page after page, in an account and an installation with a long history. */
export function benchLists(options: BenchOptions): Promise<BenchResult[]> {
  return onHistory(options, async (service, cookie, { plan, shop, database }) => {
    // Who looks after the installation and owns the account may see every list.
    const { rows } = await database.pool.query<{ operator: boolean }>(
      `with before as (select operator from person where id = $1),
        named as (update person set operator = true where id = $1),
        owns as (update membership set role = 'owner' where person_id = $1 and account_id = $2)
       select operator from before`,
      [shop.owner.id, shop.id],
    );
    const call = caller(service, cookie);
    const account = `/accounts/${shop.id}`;
    const listId = `bench-${randomUUID()}`;
    await call('PUT', `${account}/lists/${listId}`, { name: 'Bench' });
    const webhook = await call('POST', `${account}/webhooks`, {
      url: 'https://hooks.example.com/',
      kinds: ['delivered'],
    });
    const values: Readonly<Record<string, string>> = {
      accountId: shop.id,
      templateId: plan.templateIds[0] ?? '',
      clientId: plan.clientId,
      listId,
      webhookId: String(webhook.id),
    };
    try {
      return await measureReading(
        { name: 'lists', limit, history: plan.messages },
        async (path, query) => {
          const started = performance.now();
          const page = await call('GET', `${path}?${new URLSearchParams(query)}`);
          const durationMs = performance.now() - started;
          return { durationMs, next: (page.nextCursor as string | null) ?? undefined };
        },
        listCases(values),
        options,
      );
    } finally {
      await call('DELETE', `${account}/lists/${listId}`);
      await call('DELETE', `${account}/webhooks/${values.webhookId}`);
      await database.pool.query('update person set operator = $2 where id = $1', [
        shop.owner.id,
        rows[0]?.operator === true,
      ]);
    }
  });
}

/** The lists of the route table: what answers items. */
function listCases(values: Readonly<Record<string, string>>): ReadingCase[] {
  return routeTable
    .filter(({ method, operation }) => {
      const answer = operation.answer as { readonly properties?: object } | undefined;
      const items = answer?.properties !== undefined && 'items' in answer.properties;
      // Where mail is not captured there is no inbox; of an address there is no list.
      return method === 'GET' && items;
    })
    .filter(({ path }) => !path.includes('/inbox/') && !path.includes(':address'))
    .map(({ path }) => ({
      name: path,
      path: path.replaceAll(/:(\w+)/g, (_all, name: string) => values[name] ?? ''),
      query: {},
    }));
}

type Json = Record<string, unknown>;

function caller({ port }: BenchProgram, cookie: string) {
  const base = `http://127.0.0.1:${port}`;
  return async (method: string, path: string, body?: object): Promise<Json> => {
    const answer = await fetch(`${base}/manage/v1${path}`, {
      method,
      headers: {
        cookie,
        origin: base,
        'x-signalpost-request': '1',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? {} : (JSON.parse(text) as Json);
  };
}
