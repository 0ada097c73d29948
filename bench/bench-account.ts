import type { Database } from '../src/base/database/open-database.ts';
import {
  getToken,
  openShop,
  publishShopTemplate,
  type Shop,
  type ShopOptions,
} from '../test/support/shop.ts';
import { startBenchDatabase } from './bench-database.ts';
import { type BenchServiceOptions, startBenchService } from './bench-service.ts';
import { type LoadOrder, placeholder } from './load-generator.ts';
import { LoadTally } from './tally.ts';

export const fieldNames =
  'First Name,Last Name,Order Number,Order Date,Product,Quantity,Price,Street,City,Tracking Link'.split(
    ',',
  );

/** Ten values that no other message has. */
export function distinctValues(number: number, what = 'request'): Record<string, string> {
  return Object.fromEntries(
    fieldNames.map((name, index) => [name, `${name} of ${what} ${number * 10 + index}`]),
  );
}

/** An account whose template `t-0001` needs ten values. */
export async function openBenchAccount(
  database: Database,
  options: ShopOptions = {},
): Promise<Shop> {
  const shop = await openShop(database, options);
  const rows = fieldNames.map((name) => `<tr><td>${name}</td><td>{{${name}}}</td></tr>`).join('');
  await publishShopTemplate(database, shop, {
    id: 't-0001',
    sender: 'orders@shop.test',
    source: { html: `<table>${rows}</table>`, previewText: 'Thank you' },
  });
  return shop;
}

export type Bench = Awaited<ReturnType<typeof openBench>>;

/** A service on a new database with one account, and an access token of the account. */
export async function openBench(
  options: BenchServiceOptions,
  openAccount: (database: Database) => Promise<Shop> = openBenchAccount,
) {
  await using opening = new AsyncDisposableStack();
  const bench = opening.use(await startBenchDatabase());
  const shop = await openAccount(bench.database);
  const service = opening.use(await startBenchService(bench, options));
  const token = await getToken(service, shop);
  const opened = opening.move();
  const close = () => opened.disposeAsync();
  return { bench, database: bench.database, shop, service, token, [Symbol.asyncDispose]: close };
}

/** A body with its own recipient and values, padded to a size. */
export function distinctBody(number: number, minBytes = 0, tag?: string): string {
  const values = distinctValues(number);
  const body = {
    envelope: { toAddress: `reader${number}@example.test` },
    content: { personalizationDataMap: values },
    metadata: { externalId: `order-${number}`, ...(tag !== undefined && { tagList: [tag] }) },
    actions: { trackOpens: true, trackClicks: true },
  };
  values.Product += 'x'.repeat(Math.max(0, minBytes - JSON.stringify(body).length));
  return JSON.stringify(body);
}

/** A request as it goes over the wire. @param target method and path */
export function wireRequest(
  target: string,
  headers: Readonly<Record<string, string>>,
  body = '',
): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`${target} HTTP/1.1`, 'Host: 127.0.0.1', ...lines, '', body].join('\r\n');
}

export interface WireOptions {
  readonly token: string;
  readonly accountIds: readonly string[];
  readonly path?: string;
  /** The rest of the path, after the account. */
  readonly operation?: string;
  readonly count?: number;
  readonly makeBody?: (number: number) => string;
  /** Each request has a new idempotency key. */
  readonly keys?: boolean;
}

/** The no-op POST of `bench-server.ts`. */
export const noOpPath = '/bench/nothing';
export const distinctRequests = 5_000;

/** Requests to send. */
export function wireRequests({
  token,
  accountIds,
  path = '/ete/v1/email',
  operation = 't-0001',
  count = distinctRequests,
  makeBody = (number) => distinctBody(number),
  keys = false,
}: WireOptions): string[] {
  return Array.from({ length: count }, (_, index) => {
    const body = makeBody(index);
    const headers = {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
      ...(keys && { 'Idempotency-Key': `bench-${placeholder}` }),
    };
    const account = accountIds[index % accountIds.length];
    return wireRequest(`POST ${path}/${account}/${operation}`, headers, body);
  });
}

/** A load of such requests; default: sends of the account. */
export function openLoad(
  { service, shop, token }: Pick<Bench, 'service' | 'shop' | 'token'>,
  { connections, rate, ...wire }: Partial<WireOptions & LoadOrder> = {},
): LoadTally {
  const requests = wireRequests({ token, accountIds: [shop.id], ...wire });
  return new LoadTally(service, { connections, rate, requests });
}
