import assert from 'node:assert/strict';
import type { KeyObject } from 'node:crypto';
import { saveAccount } from '../../src/account/account-store.ts';
import { addSuppressions } from '../../src/feedback/suppression/suppression-store.ts';
import { DnsClient } from '../../src/foundation/dns/dns-client.ts';
import { parseDnsServer } from '../../src/foundation/dns/dns-server.ts';
import type { ComparableAddress, EmailAddress } from '../../src/foundation/email-address.ts';
import type { AccountId, PersonId, TemplateId } from '../../src/foundation/ids.ts';
import { createLog } from '../../src/foundation/log.ts';
import { storeContents } from '../../src/message/attachment-store.ts';
import { DkimKeyStore } from '../../src/sender/dkim-key-store.ts';
import { addSendingDomain, readSendingDomain } from '../../src/sender/sending-domain-store.ts';
import { SendingDomains } from '../../src/sender/sending-domains.ts';
import { serviceNames } from '../../src/sender/service-names.ts';
import type { CompiledTemplate } from '../../src/template/compiled-template.ts';
import { compileTemplate } from '../../src/template/template-compiler.ts';
import type { TemplateSource } from '../../src/template/template-source.ts';
import { publishVersion, saveTemplate } from '../../src/template/template-store.ts';
import { addKey } from '../../test/support/api-key.ts';
import { type Sink, startSink } from '../../test/support/mail-sink.ts';
import { SessionWorld } from '../../test/support/session-world.ts';
import { addSender } from '../../test/support/shop.ts';
import type { submissionEnvironment } from '../../test/support/submission-shop.ts';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.ts';
import type { TestDns } from '../../test/support/test-dns.ts';
import { startTestService, type TestService, testKey } from '../../test/support/test-service.ts';
import { acceptedAt, type Draft, templateImage } from './send-options.ts';
import type { Doors } from './submit-draft.ts';

/** Mail as a receiving server got it. */
export interface ArrivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly source: string;
}

/** What all installations of a run share. */
export interface SharedParts {
  readonly dns: TestDns;
  readonly submission: Awaited<ReturnType<typeof submissionEnvironment>>;
  readonly dkim: KeyObject;
}

/** An installation with one way out: a node that accepts, and later one that delivers. */
export class DeliveryWay {
  readonly stored: TestDatabase;
  readonly doors: Doors;
  readonly accepting: TestService;
  readonly environment: Readonly<Record<string, string>>;
  readonly #person: PersonId;
  readonly #shared: SharedParts;
  readonly #sink: Sink;

  private constructor(
    stored: TestDatabase,
    accepting: TestService,
    environment: Readonly<Record<string, string>>,
    person: PersonId,
    shared: SharedParts,
    sink: Sink,
  ) {
    this.stored = stored;
    this.accepting = accepting;
    this.environment = environment;
    this.#person = person;
    this.#shared = shared;
    this.#sink = sink;
    const { tlsPort = 0 } = accepting.app.submissionPorts();
    this.doors = {
      url: accepting.url,
      submissionPort: tlsPort,
      start: stored.clock.now() - acceptedAt,
    };
  }

  static async open(shared: SharedParts): Promise<DeliveryWay> {
    const stored = await createTestDatabase();
    await stored.clock.set(Date.now() + acceptedAt);
    const sink = await startSink();
    const environment = {
      ...shared.submission.environment,
      DNS_SERVERS: shared.dns.server,
      SMTP_HOSTNAME: 'mail.sender.test',
      PUBLIC_URL: 'https://mail.shop.test',
      BOUNCE_PORT: '0',
      BOUNCE_HOST: '127.0.0.1',
      SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=off&connections=50`,
    };
    const accepting = await startTestService({
      databaseUrl: stored.url,
      clock: stored.clock,
      worker: false,
      environment,
    });
    const { id } = await new SessionWorld(stored.database).addPerson({ accounts: [] });
    return new DeliveryWay(stored, accepting, environment, id, shared, sink);
  }

  get dns(): TestDns {
    return this.#shared.dns;
  }

  /** Sets the time and starts a node that delivers. */
  async startDelivery(): Promise<void> {
    const { stored, environment } = this;
    const { url: databaseUrl, clock } = stored;
    await clock.set(this.doors.start);
    await startTestService({ databaseUrl, clock, environment, roles: ['worker'] });
  }

  /** True once nothing is left to send, and reports have counted everything. */
  async isSettled(): Promise<boolean> {
    const { rows } = await this.stored.database.pool.query<{ settled: boolean }>(`
      select not exists (select from queue_entry) and not exists (
        select from feed_cursor where tx <= (select max(tx) from message_event)) as settled`);
    return rows[0]?.settled === true;
  }

  /** All mail that arrived so far. */
  arrived(): readonly ArrivedMail[] {
    return this.#sink.mails;
  }

  /** The account of a case, with a signing domain, senders and templates. @returns an API key */
  async openAccount({ accountId: text, archive, suppressed }: Draft): Promise<string> {
    const { database } = this.stored;
    const accountId = text as AccountId;
    await saveAccount(database.kysely, {
      id: accountId,
      name: text,
      addOns: new Set(['transactional']),
      suspended: false,
      retentionDays: 90,
      archiveAddress: archive as EmailAddress | undefined,
    });
    await addSender(database, accountId, 'orders@shop.test', { displayNames: ['Demo Shop'] });
    await addSender(database, accountId, 'help@shop.test');
    await this.publish(accountId, 'accepted');
    await this.#addDomain(accountId);
    if (suppressed.length > 0)
      await addSuppressions(
        database.kysely,
        accountId,
        suppressed.map((address) => ({
          address: address as ComparableAddress,
          reason: 'hard_bounce',
        })),
      );
    return addKey(database, accountId);
  }

  async #addDomain(accountId: AccountId): Promise<void> {
    const { database } = this.stored;
    const { dns, dkim } = this.#shared;
    const keys = new DkimKeyStore(testKey);
    await database.kysely.transaction().execute(async (transaction) => {
      await addSendingDomain(transaction, accountId, 'shop.test', 'bounces.shop.test');
      await keys.add(transaction, accountId, 'shop.test', 'first', 'rsa-sha256', dkim);
    });
    const domains = new SendingDomains({
      database,
      dns: new DnsClient([parseDnsServer(dns.server)]),
      keys,
      service: serviceNames(this.accepting.config),
      log: createLog('silent'),
    });
    const added = await readSendingDomain(database.kysely, accountId, 'shop.test');
    assert.ok(added);
    for (const { name, type, value } of await domains.records(added)) {
      const zone = dns.zones.get(name) ?? {};
      if (type === 'TXT') dns.set(name, { ...zone, TXT: [value] });
      if (type === 'MX') dns.set(name, { ...zone, MX: [[10, value.slice(3, -1)]] });
    }
    assert.equal((await domains.check(added))?.state, 'verified');
  }

  /** Publishes a version of each template. */
  async publish(accountId: AccountId, version: keyof typeof sources): Promise<void> {
    await this.stored.database.kysely.transaction().execute(async (transaction) => {
      for (const id of ['letter', 'pictured'] as const) {
        const { source, compiled } = await compiledSource(version, id);
        const templateId = id as string as TemplateId;
        const createdBy = this.#person;
        await saveTemplate(transaction, { accountId, id: templateId, name: id, createdBy });
        if (source.images !== undefined)
          await storeContents(transaction, accountId, [templateImage]);
        await publishVersion(transaction, {
          accountId,
          templateId,
          contentHash: Buffer.from(version.padEnd(32)),
          senderAddress: 'orders@shop.test',
          freshnessSeconds: 900,
          source,
          compiled,
        });
      }
    });
  }
}

/** The subjects of the versions that are published when messages are accepted and when they are due. */
const sources = { accepted: 'Order', due: 'New order' } as const;

const compiledSources = new Map<
  string,
  Promise<{ readonly source: TemplateSource; readonly compiled: CompiledTemplate }>
>();

/** Each source is compiled once. */
function compiledSource(version: keyof typeof sources, id: Draft['template']) {
  const key = `${version} ${id}`;
  const found =
    compiledSources.get(key) ??
    (async () => {
      const source = sourceOf(version, id);
      const { compiled, problems } = await compileTemplate(source);
      if (compiled === null) throw new Error(JSON.stringify(problems));
      return { source, compiled };
    })();
  compiledSources.set(key, found);
  return found;
}

function sourceOf(version: keyof typeof sources, id: Draft['template']): TemplateSource {
  const { content, ...image } = templateImage;
  const html = `<p>Hello {{Name}}</p><ul>{{#Items}}<li>{{Title}}</li>{{/Items}}</ul>
    <p><a href="https://shop.test/orders?of={{Name}}">Order</a></p>
    {{#Photo}}<img src="cid:photo" alt="">{{/Photo}}${id === 'pictured' ? '<img src="cid:logo" alt="">' : ''}
    <p><a href="{{Unsubscribe Link}}">Unsubscribe</a></p>`;
  return {
    subject: `${sources[version]} of {{Name}}`,
    html,
    fields: { Items: { kind: 'list', fields: { Title: {} } } },
    locale: 'en',
    variants: { de: { subject: `DE ${sources[version]} of {{Name}}`, html } },
    ...(id === 'pictured' && { images: [{ ...image, size: content.length }] }),
  };
}
