import assert from 'node:assert/strict';
import { createHash, type KeyObject } from 'node:crypto';
import { saveAccount } from '../../src/accounts/account/account-store.ts';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { DkimKeyStore } from '../../src/accounts/sender/dkim-key-store.ts';
import {
  addSendingDomain,
  readSendingDomain,
} from '../../src/accounts/sender/sending-domain-store.ts';
import { SendingDomains } from '../../src/accounts/sender/sending-domains.ts';
import { serviceNames } from '../../src/accounts/sender/service-names.ts';
import { DnsClient } from '../../src/base/dns/dns-client.ts';
import { parseDnsServer } from '../../src/base/dns/dns-server.ts';
import { resealColumn } from '../../src/base/secrets/seal.ts';
import type { ComparableAddress, EmailAddress } from '../../src/base/values/email-address.ts';
import type { AccountId, PersonId, TemplateId } from '../../src/base/values/ids.ts';
import { createLog } from '../../src/base/values/log.ts';
import { storeContents } from '../../src/content/message/attachment-store.ts';
import { addSuppressions } from '../../src/content/suppression/suppression-store.ts';
import type { CompiledTemplate } from '../../src/content/template/compiled-template.ts';
import { compileTemplate } from '../../src/content/template/template-compiler.ts';
import type { TemplateSource } from '../../src/content/template/template-source.ts';
import { publishVersion, saveTemplate } from '../../src/content/template/template-store.ts';
import { sealedColumns } from '../../src/operating/command/rotate-master.ts';
import { deleteOldData } from '../../src/outcomes/retention/delete-old-data.ts';
import { endOrphanedLeases } from '../../src/sending/queue/orphaned-lease-store.ts';
import { addKey } from '../../test/support/api-key.ts';
import { type ManagementClient, signInToManagement } from '../../test/support/management-client.ts';
import { SessionWorld } from '../../test/support/session-world.ts';
import { addSender } from '../../test/support/shop.ts';
import type { submissionEnvironment } from '../../test/support/submission-shop.ts';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.ts';
import type { TestDns } from '../../test/support/test-dns.ts';
import { startTestService, type TestService, testKey } from '../../test/support/test-service.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { type ArrivedMail, type Hold, Receivers } from './receivers.ts';
import { acceptedAt, type Draft, type SendCase, templateImage } from './send-options.ts';
import type { Doors } from './submit-draft.ts';

/** What all installations of a run share. */
export interface SharedParts {
  readonly dns: TestDns;
  readonly submission: Awaited<ReturnType<typeof submissionEnvironment>>;
  readonly dkim: KeyObject;
}

/** An installation with one way out: a node that accepts, and later ones that deliver. */
export class DeliveryWay {
  readonly stored: TestDatabase;
  readonly doors: Doors;
  readonly accepting: TestService;
  readonly #name: SendCase['way'];
  readonly #environment: Readonly<Record<string, string>>;
  readonly #person: { readonly id: PersonId; readonly email: string };
  readonly #shared: SharedParts;
  readonly #receivers: Receivers;
  readonly #nodes: TestService[] = [];
  readonly #captured = new Map<string, ArrivedMail>();
  #rotation: Promise<void> | undefined;

  private constructor(
    name: SendCase['way'],
    stored: TestDatabase,
    accepting: TestService,
    environment: Readonly<Record<string, string>>,
    person: { readonly id: PersonId; readonly email: string },
    shared: SharedParts,
    receivers: Receivers,
  ) {
    this.#name = name;
    this.stored = stored;
    this.accepting = accepting;
    this.#environment = environment;
    this.#person = person;
    this.#shared = shared;
    this.#receivers = receivers;
    const { tlsPort = 0 } = accepting.app.submissionPorts();
    this.doors = {
      url: accepting.url,
      submissionPort: tlsPort,
      start: stored.clock.now() - acceptedAt,
    };
  }

  static async open(name: SendCase['way'], shared: SharedParts): Promise<DeliveryWay> {
    const stored = await createTestDatabase();
    await stored.clock.set(Date.now() + acceptedAt);
    const receivers = await Receivers.start();
    const environment = {
      ...shared.submission.environment,
      DNS_SERVERS: shared.dns.server,
      SMTP_HOSTNAME: 'mail.sender.test',
      PUBLIC_URL: 'https://mail.shop.test',
      BOUNCE_PORT: '0',
      BOUNCE_HOST: '127.0.0.1',
      ...waysOut[name](receivers.port),
    };
    const accepting = await startTestService({
      databaseUrl: stored.url,
      clock: stored.clock,
      worker: false,
      environment,
    });
    const person = await new SessionWorld(stored.database).addPerson({ accounts: [] });
    return new DeliveryWay(name, stored, accepting, environment, person, shared, receivers);
  }

  get dns(): TestDns {
    return this.#shared.dns;
  }

  /** Somebody who may do everything in all accounts. */
  owner(): Promise<ManagementClient> {
    return signInToManagement(this.accepting, this.#person.email);
  }

  /**
   * Sets the time and starts a node that delivers. If some of its mail is to be sent by a worker that dies, this is the second one:
   * the first delivers the rest, until servers have what it dies with.
   * @param dying what the servers of a recipient's domain do while the first one lives
   * @param others accounts whose mail the first one doesn't finish
   */
  async startDelivery(dying: ReadonlyMap<string, Hold>, others: readonly string[]): Promise<void> {
    const { stored } = this;
    const { url: databaseUrl, clock } = stored;
    const environment = this.#environment;
    await clock.set(this.doors.start);
    const startNode = (): Promise<TestService> =>
      startTestService({ databaseUrl, clock, environment, roles: ['worker'] });
    if (dying.size > 0) {
      this.#receivers.hold(dying);
      const node = await startNode();
      await waitFor('replies to be waited for', () => this.#receivers.holdsAll());
      await this.settle(others);
      // It claims nothing any more. Its leases end while it waits for replies, so whatever it writes is too late.
      this.#nodes.push(node);
      void node.stop();
      this.#receivers.release();
      await endOrphanedLeases(stored.database);
    }
    this.#nodes.push(await startNode());
  }

  /** Stops all nodes. */
  async stop(): Promise<void> {
    await Promise.all([this.accepting, ...this.#nodes].map((node) => node.stop()));
  }

  /** Waits until nothing is left to send, and reports have counted everything. @param except accounts whose messages wait */
  async settle(except: readonly string[] = []): Promise<void> {
    await waitFor('all messages to be sent', () => this.#isSettled(except)).catch(
      async (error: unknown) => {
        const { rows } = await this.stored.database.pool.query(
          'select account_id, stage, attempts, due_at, reason from queue_entry where account_id <> all ($1)',
          [except],
        );
        throw new Error(`left over ${this.#name}: ${JSON.stringify(rows.slice(0, 5))}`, {
          cause: error,
        });
      },
    );
  }

  async #isSettled(except: readonly string[]): Promise<boolean> {
    const { rows } = await this.stored.database.pool.query<{ settled: boolean }>(
      `select not exists (select from queue_entry where account_id <> all ($1)) and not exists (
         select from feed_cursor where tx <= (select max(tx) from message_event)) as settled`,
      [except],
    );
    return rows[0]?.settled === true;
  }

  /** All mail that arrived so far. */
  async arrived(): Promise<readonly ArrivedMail[]> {
    if (this.#name !== 'inbox') return this.#receivers.mails;
    const { rows } = await this.stored.database.pool.query<{
      id: string;
      envelope_from: string;
      envelope_to: string[];
      source: Buffer;
    }>('select id, envelope_from, envelope_to, source from inbox_message');
    // It may be erased later.
    for (const { id, envelope_from: from, envelope_to: to, source } of rows)
      this.#captured.set(id, { from, to, source: source.toString() });
    return [...this.#captured.values()];
  }

  /** What servers had got when the worker died that waited for their replies. */
  get unanswered(): readonly ArrivedMail[] {
    return this.#receivers.unanswered;
  }

  /** Erases old data, as every hour. */
  async keepPrivacy(): Promise<void> {
    await deleteOldData(this.stored.database, createLog('silent'));
  }

  async setSuspended({ accountId, archive }: Draft, suspended: boolean): Promise<void> {
    await saveAccount(this.stored.database.kysely, {
      id: accountId as AccountId,
      name: accountId,
      addOns: new Set(['transactional']),
      suspended,
      retentionDays: 90,
      archiveAddress: archive as EmailAddress | undefined,
    });
  }

  /** The account of a case, with a signing domain, senders and templates. @returns an API key */
  async openAccount(draft: Draft): Promise<string> {
    const { database } = this.stored;
    const { dns } = this;
    const { suppressed, name } = draft;
    const accountId = draft.accountId as AccountId;
    await this.setSuspended(draft, false);
    const personId = this.#person.id;
    await saveMembership(database.kysely, { accountId, personId, role: 'owner' });
    await addSender(database, accountId, 'orders@shop.test', { displayNames: ['Demo Shop'] });
    await addSender(database, accountId, 'help@shop.test');
    await this.publish(accountId, 'accepted');
    await this.#addDomain(accountId);
    dns.set(`${name}.test`, { MX: [[10, `mx.${name}.test`]] });
    dns.set(`mx.${name}.test`, { A: ['127.0.0.1'] });
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
    await database.kysely.transaction().execute(async (transaction) => {
      await addSendingDomain(transaction, accountId, 'shop.test', 'bounces.shop.test');
      await dkimKeys.add(
        transaction,
        accountId,
        'shop.test',
        'first',
        'rsa-sha256',
        this.#shared.dkim,
      );
    });
    await this.#checkDomain(accountId);
  }

  /** Publishes the records of the account's domain, which are then found. */
  async #checkDomain(accountId: AccountId): Promise<void> {
    const { dns } = this;
    const domains = this.#sendingDomains();
    const added = await readSendingDomain(this.stored.database.kysely, accountId, 'shop.test');
    assert.ok(added);
    for (const { name, type, value } of await domains.records(added)) {
      const zone = dns.zones.get(name) ?? {};
      if (type === 'TXT') dns.set(name, { ...zone, TXT: [value] });
      if (type === 'MX') dns.set(name, { ...zone, MX: [[10, value.slice(3, -1)]] });
    }
    assert.equal((await domains.check(added))?.state, 'verified');
  }

  /** Replaces the DKIM key of the account. */
  async rotateDkimKey(accountId: AccountId): Promise<void> {
    assert.ok(await this.#sendingDomains().rotate(accountId, 'shop.test'));
    await this.#checkDomain(accountId);
  }

  /** Replaces the master key of the installation once, for all of its accounts, and encrypts its secrets again. */
  rotateMasterKey(): Promise<void> {
    this.#rotation ??= (async () => {
      const before = testKey.fingerprint;
      testKey.addSecrets([createHash('sha256').update(before).digest()]);
      assert.equal(testKey.select(testKey.fingerprints.at(-1) ?? '', before), undefined);
      for (const column of sealedColumns) await resealColumn(this.stored.database, testKey, column);
    })();
    return this.#rotation;
  }

  #sendingDomains(): SendingDomains {
    return new SendingDomains({
      database: this.stored.database,
      dns: new DnsClient([parseDnsServer(this.dns.server)]),
      keys: dkimKeys,
      service: serviceNames(this.accepting.config),
      log: createLog('silent'),
    });
  }

  /** Publishes a version of each template. */
  async publish(accountId: AccountId, version: keyof typeof sources): Promise<void> {
    await this.stored.database.kysely.transaction().execute(async (transaction) => {
      for (const id of ['letter', 'pictured'] as const) {
        const { source, compiled } = await compiledSource(version, id);
        const templateId = id as string as TemplateId;
        const createdBy = this.#person.id;
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

const dkimKeys = new DkimKeyStore(testKey);

/** The settings of each way out. @param port of the receiving servers */
const waysOut: Readonly<
  Record<SendCase['way'], (port: number) => Readonly<Record<string, string>>>
> = {
  relay: (port) => ({ SMTP_URL: `smtp://127.0.0.1:${port}?tls=off&connections=100` }),
  direct: (port) => ({ DELIVERY: 'direct', DIRECT_PORT: String(port), DIRECT_LOOPBACK: '1' }),
  inbox: () => ({ DELIVERY: 'inbox' }),
};

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
