import type { TemplateSource } from '../../src/content/template/template-source.ts';
import { type CapturedMail, readInbox } from './inbox-client.ts';
import type { ManagedShop } from './management-client.ts';
import { bodyWith, SendClient } from './send-client.ts';
import { getToken, openShop, publishShopTemplate, type Shop } from './shop.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';
import { startTestService, type TestService } from './test-service.ts';
import { openSharedShop, type TestShop } from './test-shop.ts';
import { waitFor } from './wait-for.ts';

export interface StoredEventRow {
  readonly id: string;
  readonly kind: string;
  readonly recipient: number | null;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface SentMail {
  readonly id: string;
  readonly mail: CapturedMail;
}

/** A running service with a shop whose mail stays in the inbox, for tests of feedback after delivery. */
export class FeedbackShop {
  readonly database: TestDatabase['database'];
  readonly databaseUrl: string;
  readonly clock: TestDatabase['clock'];
  readonly service: TestService;
  readonly shop: Shop;
  readonly client: SendClient;

  private constructor(opened: Omit<TestShop, keyof ManagedShop | 'token'> & { shop: Shop }) {
    this.database = opened.database;
    this.databaseUrl = opened.databaseUrl;
    this.clock = opened.clock;
    this.service = opened.service;
    this.shop = opened.shop;
    this.client = opened.client;
  }

  /** An account of its own in the service that files of this process share, whose inbox has the mail of all of them. */
  static async openShared(): Promise<FeedbackShop> {
    return new FeedbackShop(await openSharedShop());
  }

  /** @param routeDatabase puts a proxy before the database: takes the database's URL, returns the proxy's */
  static async open(
    environment: Readonly<Record<string, string>> = {},
    routeDatabase: (databaseUrl: string) => Promise<string> = (url) => Promise.resolve(url),
  ): Promise<FeedbackShop> {
    const { database, url: databaseUrl, clock } = await createTestDatabase();
    const shop = await openShop(database);
    const service = await startTestService({
      databaseUrl: await routeDatabase(databaseUrl),
      environment,
      clock,
    });
    const client = new SendClient(service, await getToken(service, shop));
    return new FeedbackShop({ database, databaseUrl, clock, service, shop, client });
  }

  /** Publishes `template` with this HTML. */
  async publish(
    template: string,
    html: string,
    fields: TemplateSource['fields'] = {},
  ): Promise<void> {
    await publishShopTemplate(this.database, this.shop, {
      id: template,
      sender: 'orders@shop.test',
      source: { subject: 'News', previewText: '', html, fields },
    });
  }

  /** Sends to a unique address and waits until the message is delivered. */
  async send(
    template: string,
    options: {
      readonly to?: string;
      readonly cc?: readonly string[];
      readonly values?: Readonly<Record<string, unknown>>;
      readonly trackOpens?: boolean;
      readonly trackClicks?: boolean;
      readonly transactional?: boolean;
      readonly metadata?: Readonly<Record<string, unknown>>;
      readonly receiveReplies?: boolean;
    } = {},
  ): Promise<SentMail> {
    const to = options.to ?? `r${Math.random().toString(36).slice(2)}@people.test`;
    const response = await this.client.send({
      template,
      body: bodyWith({
        envelope: { toAddress: to, ccAddressList: options.cc },
        content: { personalizationDataMap: options.values ?? {} },
        metadata: {
          transactional: options.transactional ?? false,
          ...options.metadata,
        },
        actions: {
          trackOpens: options.trackOpens ?? false,
          trackClicks: options.trackClicks ?? false,
          receiveReplies: options.receiveReplies,
        },
      }),
    });
    if (response.status !== 200) throw new Error(`not accepted: ${response.text}`);
    const id = String(response.body.messageId);
    const [mail] = await readInbox(this.service.url, `?to=${encodeURIComponent(to)}&wait=60`);
    if (mail === undefined) throw new Error('no mail came');
    await waitFor('the delivery', async () => (await this.state(id)) === 'delivered');
    return { id, mail };
  }

  async state(messageId: string): Promise<string | undefined> {
    const { rows } = await this.database.pool.query('select state from message where id = $1', [
      messageId,
    ]);
    return rows[0]?.state;
  }

  /** The events of a message with these kinds, in order. */
  async events(messageId: string, ...kinds: string[]): Promise<StoredEventRow[]> {
    const { rows } = await this.database.pool.query<StoredEventRow>(
      'select id, kind, recipient, detail from message_event where message_id = $1 and kind = any ($2) order by at, id',
      [messageId, kinds],
    );
    return rows;
  }

  /** Waits for `count` events of a kind. */
  waitForEvents(messageId: string, kind: string, count = 1): Promise<StoredEventRow[]> {
    return waitFor(`${count} ${kind}`, async () => {
      const events = await this.events(messageId, kind);
      return events.length >= count && events;
    });
  }
}

/** The URLs in attributes of an HTML text, as an email client reads them. */
export function addressesIn(html: string | null, attribute: 'href' | 'src'): string[] {
  const found = [...(html ?? '').matchAll(new RegExp(`${attribute}="([^"]*)"`, 'g'))];
  return found.map((match) => (match[1] ?? '').replaceAll('&amp;', '&'));
}
