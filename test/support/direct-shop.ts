import assert from 'node:assert/strict';
import { DkimKeyStore } from '../../src/accounts/sender/dkim-key-store.ts';
import { readSendingDomain } from '../../src/accounts/sender/sending-domain-store.ts';
import { SendingDomains } from '../../src/accounts/sender/sending-domains.ts';
import { serviceNames } from '../../src/accounts/sender/service-names.ts';
import { DnsClient } from '../../src/base/dns/dns-client.ts';
import { parseDnsServer } from '../../src/base/dns/dns-server.ts';
import type { MessageId } from '../../src/base/values/ids.ts';
import { createLog } from '../../src/base/values/log.ts';
import { bodyWith, SendClient } from './send-client.ts';
import { getToken, openShop, type Shop } from './shop.ts';
import { createTestDatabase } from './test-database.ts';
import { TestDns } from './test-dns.ts';
import { TestMx, type TestMxOptions } from './test-mx.ts';
import { startTestService, type TestService, testKey } from './test-service.ts';

/** A shop whose service delivers directly to a test server, with `shop.test` as its sending domain. */
export class DirectShop {
  readonly databaseUrl: string;
  readonly database: Awaited<ReturnType<typeof createTestDatabase>>['database'];
  readonly zones: TestDns;
  readonly mx: TestMx;
  readonly service: TestService;
  readonly environment: Readonly<Record<string, string>>;
  readonly shop: Shop;
  readonly token: string;
  readonly client: SendClient;
  readonly sendingDomains: SendingDomains;

  private constructor(fields: Omit<DirectShop, 'setUp' | 'send' | 'reasonOf'>) {
    this.databaseUrl = fields.databaseUrl;
    this.database = fields.database;
    this.zones = fields.zones;
    this.mx = fields.mx;
    this.service = fields.service;
    this.environment = fields.environment;
    this.shop = fields.shop;
    this.token = fields.token;
    this.client = fields.client;
    this.sendingDomains = fields.sendingDomains;
  }

  /**
   * @param sources DIRECT_SOURCES: loopback addresses
   * @param extraEnvironment settings of the service
   */
  static async open(
    sources: string,
    server: TestMxOptions,
    extraEnvironment: Readonly<Record<string, string>> = {},
  ): Promise<DirectShop> {
    const { url: databaseUrl, database } = await createTestDatabase();
    const zones = await new TestDns().start();
    const mx = await new TestMx(server).start();
    const environment = {
      DELIVERY: 'direct',
      SMTP_HOSTNAME: 'mail.sender.test',
      DNS_SERVERS: zones.server,
      DIRECT_PORT: String(mx.port),
      DIRECT_LOOPBACK: '1',
      DIRECT_SOURCES: sources,
      ...extraEnvironment,
    };
    const service = await startTestService({ databaseUrl, environment });
    const shop = await openShop(database);
    const token = await getToken(service, shop);
    const sendingDomains = new SendingDomains({
      database,
      dns: new DnsClient([parseDnsServer(zones.server)]),
      keys: new DkimKeyStore(testKey),
      service: serviceNames(service.config),
      log: createLog('silent'),
    });
    const client = new SendClient(service, token);
    const fields = { databaseUrl, database, zones, mx, service, environment, shop, token, client };
    const opened = new DirectShop({ ...fields, sendingDomains });
    await opened.setUp('shop.test');
    return opened;
  }

  /** Adds a sending domain and publishes its records. */
  async setUp(domain: string): Promise<void> {
    const { sendingDomains, database, shop, zones } = this;
    await sendingDomains.add(shop.id, domain, { ed25519: true });
    const added = await readSendingDomain(database.kysely, shop.id, domain);
    assert.ok(added);
    for (const { name, type, value } of await sendingDomains.records(added)) {
      const zone = zones.zones.get(name) ?? {};
      if (type === 'TXT') zones.set(name, { ...zone, TXT: [value] });
      if (type === 'MX') zones.set(name, { ...zone, MX: [[10, value.slice(3, -1)]] });
    }
    assert.equal((await sendingDomains.check(added))?.state, 'verified');
  }

  async send(toAddress: string, template = 't-0001'): Promise<MessageId> {
    const id = await this.client.accept({
      template,
      body: bodyWith({ envelope: { toAddress } }),
    });
    return id as MessageId;
  }

  /** Why a message is waiting; empty if it isn't. */
  async reasonOf(id: MessageId): Promise<string> {
    const { rows } = await this.database.pool.query<{ reason: string | null }>(
      'select reason from queued_delivery where message_id = $1 and lease_owner is null',
      [id],
    );
    return rows[0]?.reason ?? '';
  }
}
