import type { Database } from '../src/foundation/database/open-database.ts';
import { getToken, openShop, publishShopTemplate, type Shop } from '../test/support/shop.ts';
import type { BenchService } from './bench-service.ts';
import { placeholder } from './load-generator.ts';
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

export interface WireOptions {
  readonly token: string;
  readonly accountIds: readonly string[];
  readonly path?: string;
  readonly templateId?: string;
  readonly tag?: string;
  readonly count?: number;
  readonly bodyBytes?: number;
  /** Each request has an idempotency key that was never used. */
  readonly keys?: boolean;
}

/** The no-op POST of `bench-server.ts`. */
export const noOpPath = '/bench/nothing';
export const distinctRequests = 5_000;

/** Requests to send, as they go over the wire. */
export function wireRequests({
  token,
  accountIds,
  path = '/ete/v1/email',
  templateId = 't-0001',
  tag,
  count = distinctRequests,
  bodyBytes,
  keys = false,
}: WireOptions): string[] {
  return Array.from({ length: count }, (_, index) => {
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

/** Sends of an account. @param token undefined: a new one */
export async function openAcceptLoad(
  service: BenchService,
  shop: Shop,
  token?: string,
): Promise<LoadTally> {
  const wire = { token: token ?? (await getToken(service, shop)), accountIds: [shop.id] };
  return new LoadTally(service, { requests: wireRequests(wire) });
}
