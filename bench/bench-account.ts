import type { Database } from '../src/foundation/database/open-database.ts';
import { getToken, openShop, publishShopTemplate, type Shop } from '../test/support/shop.ts';
import type { BenchProgram } from './bench-program.ts';
import { type LoadOrder, placeholder } from './load-generator.ts';

export const fieldNames = [
  'First Name',
  'Last Name',
  'Order Number',
  'Order Date',
  'Product',
  'Quantity',
  'Price',
  'Street',
  'City',
  'Tracking Link',
] as const;

/** An account whose template `t-0001` needs ten values. */
export async function openBenchAccount(database: Database): Promise<Shop> {
  const shop = await openShop(database);
  const rows = fieldNames.map((name) => `<tr><td>${name}</td><td>{{${name}}}</td></tr>`).join('');
  await publishShopTemplate(database, shop, {
    id: 't-0001',
    sender: 'orders@shop.test',
    source: { html: `<table>${rows}</table>`, previewText: 'Thank you' },
  });
  return shop;
}

/** A body that is like no other: its own recipient and its own ten values, filled up to a size in bytes. */
export function distinctBody(number: number, bytes = 0, tag?: string): string {
  const values: Record<string, string> = Object.fromEntries(
    fieldNames.map((name, index) => [name, `${name} of request ${number * 10 + index}`]),
  );
  const body = {
    envelope: { toAddress: `reader${number}@example.test` },
    content: { personalizationDataMap: values },
    metadata: { externalId: `order-${number}`, ...(tag !== undefined && { tagList: [tag] }) },
    actions: { trackOpens: true, trackClicks: true },
  };
  const missing = bytes - JSON.stringify(body).length;
  if (missing > 0) values.Product += 'x'.repeat(missing);
  return JSON.stringify(body);
}

export interface WireOptions {
  /** Before the account id, such as `/ete/v1/email`. */
  readonly path: string;
  readonly accountIds: readonly string[];
  /** `t-0001` where not given. */
  readonly templateId?: string;
  readonly tag?: string;
  readonly token: string;
  readonly count?: number;
  readonly bodyBytes?: number;
  /** Each request has an idempotency key that was never used. */
  readonly keys?: boolean;
}

const distinctRequests = 5_000;

/** Requests as they go over the wire. */
export function wireRequests(options: WireOptions): LoadOrder['requests'] {
  const { path, accountIds, templateId = 't-0001', tag, token, bodyBytes, keys = false } = options;
  return Array.from({ length: options.count ?? distinctRequests }, (_, index) => {
    const body = distinctBody(index, bodyBytes, tag);
    return [
      `POST ${path}/${accountIds[index % accountIds.length]}/${templateId} HTTP/1.1`,
      'Host: 127.0.0.1',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...(keys ? [`Idempotency-Key: bench-${placeholder}`] : []),
      '',
      body,
    ].join('\r\n');
  });
}

/** Small requests of an account, each like no other. @param token undefined: a new one of the service's */
export async function acceptRequests(
  service: BenchProgram,
  shop: Shop,
  token?: string,
): Promise<LoadOrder['requests']> {
  const bearer = token ?? (await getToken(service, shop));
  return wireRequests({ path: '/ete/v1/email', accountIds: [shop.id], token: bearer });
}
