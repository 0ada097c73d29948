import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { Database } from '../../src/base/database/open-database.ts';
import {
  type AccountId,
  type MessageId,
  newMessageId,
  newPersonId,
} from '../../src/base/values/ids.ts';
import { type LoadedTemplate, loadTemplate } from '../../src/content/rendering/load-template.ts';
import { compileVersion } from '../../src/content/template/compile-version.ts';
import type { CompiledTemplate } from '../../src/content/template/compiled-template.ts';
import type { StagingRules } from '../../src/sending/delivery/attempt-results.ts';
import { createDelivery } from '../../src/sending/delivery/deliver-message.ts';
import { SmtpPool } from '../../src/sending/delivery/smtp-pool.ts';
import { inboxServer } from '../../src/sending/delivery/smtp-server-settings.ts';
import type { SmtpTimeouts } from '../../src/sending/delivery/smtp-session.ts';
import type { Transport } from '../../src/sending/delivery/transport.ts';
import type { Attempt } from '../../src/sending/queue/attempt.ts';
import { ClaimStore } from '../../src/sending/queue/claim-store.ts';
import { LeaseStore } from '../../src/sending/queue/lease-store.ts';
import { registerQueueMetrics } from '../../src/sending/queue/queue-metrics.ts';
import { Worker, type WorkerOptions } from '../../src/sending/queue/worker.ts';
import { plainDelivery } from './plain-delivery.ts';
import type { TestClock } from './test-clock.ts';
import { createTestDatabase, type TestDatabase } from './test-database.ts';
import { waitFor } from './wait-for.ts';

export interface MessageDraft {
  readonly account?: AccountId;
  readonly to?: string;
  readonly cc?: readonly string[];
  readonly from?: string;
  readonly values?: Readonly<Record<string, string>>;
  readonly subjectLine?: string;
  readonly transactional?: boolean;
  readonly deliverWhenDelayed?: boolean;
  /** Seconds after which it expires. */
  readonly lifetime?: number;
}

export interface EventRow {
  readonly kind: string;
  readonly recipient: number | null;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface EntryRow {
  readonly recipient: number;
  readonly attempts: number;
  readonly fence: string;
  readonly stage: string | null;
  readonly lease_owner: string | null;
  readonly held: boolean;
  readonly reason: string | null;
  /** Seconds from now; Infinity if held for review. */
  readonly due_in: number;
}

export const account = 'a1' as AccountId;

/** A database with one published template, and helpers for queue and delivery tests. */
export class DeliveryWorld {
  readonly log = pino({ level: process.env.TEST_LOG ?? 'silent' });
  readonly database: Database;
  readonly url: string;
  readonly clock: TestClock;
  #template: LoadedTemplate | undefined;
  readonly #workers: Worker[] = [];

  private constructor({ database, url, clock }: TestDatabase) {
    this.database = database;
    this.url = url;
    this.clock = clock;
  }

  static async create(): Promise<DeliveryWorld> {
    const world = new DeliveryWorld(await createTestDatabase());
    await world.addAccount(account);
    return world;
  }

  get template(): LoadedTemplate {
    if (this.#template === undefined) throw new Error('no template');
    return this.#template;
  }

  /** An account with the template `t1`, version 1. */
  async addAccount(accountId: AccountId): Promise<void> {
    const compiled = await compiledTemplate();
    this.#template ??= loadTemplate(compiled);
    const person = newPersonId();
    const { pool } = this.database;
    await pool.query('insert into account (id, name) values ($1, $1)', [accountId]);
    await pool.query('insert into person (id, email, name) values ($1, $2, $2)', [
      person,
      `${accountId}@shop.test`,
    ]);
    await pool.query(
      `insert into template (account_id, id, name, created_by, published_version) values ($1, 't1', 'T', $2, 1)`,
      [accountId, person],
    );
    await pool.query(
      `insert into template_version (account_id, template_id, version, content_hash, source, compiled)
       values ($1, 't1', 1, '\\x00', '{}', $2)`,
      [accountId, JSON.stringify(compiled)],
    );
  }

  /** Stores a message like the send operation. */
  async accept(draft: MessageDraft = {}): Promise<MessageId> {
    const id = newMessageId();
    const accountId = draft.account ?? account;
    const content = {
      to: draft.to ?? 'ann@people.test',
      ...(draft.cc && { cc: draft.cc }),
      from: { address: draft.from ?? 'orders@shop.test', name: 'Demo Shop' },
      ...(draft.subjectLine !== undefined && { subjectLine: draft.subjectLine }),
      values: draft.values ?? { Name: 'Ann', Link: 'https://shop.test/secret' },
    };
    await this.database.pool.query(
      `with m as (
         insert into message (account_id, id, retention_days, template_id, template_version, transactional, track_opens,
           track_clicks, deliver_when_delayed, client_id, accepted_at, state_at, content)
         values ($1, $2, 90, 't1', 1, $3, false, false, $4, 'c1', now(), now(), $5))
       insert into queued_delivery (account_id, message_id, recipient, retention_days, priority, due_at, expires_at)
       select $1, $2, generate_series(0, $8::int), 90, $6, now(), now() + $7::float8 * interval '1 s'`,
      [
        accountId,
        id,
        draft.transactional ?? false,
        draft.deliverWhenDelayed ?? true,
        JSON.stringify(content),
        (draft.transactional ?? false) ? 0 : 1,
        draft.lifetime ?? 48 * 3_600,
        draft.cc?.length ?? 0,
      ],
    );
    return id;
  }

  async state(id: MessageId): Promise<string> {
    const { rows } = await this.database.pool.query<{ state: string }>(
      'select state from message where id = $1',
      [id],
    );
    return rows[0]?.state ?? 'gone';
  }

  async content(id: MessageId): Promise<Record<string, unknown>> {
    const { rows } = await this.database.pool.query('select content from message where id = $1', [
      id,
    ]);
    return rows[0]?.content;
  }

  async events(id: MessageId): Promise<EventRow[]> {
    const { rows } = await this.database.pool.query<EventRow>(
      'select kind, recipient, detail from message_event where message_id = $1 order by at, id',
      [id],
    );
    return rows;
  }

  /** What the queue has for the recipients that aren't final, in the order of their numbers. */
  async entries(id: MessageId): Promise<EntryRow[]> {
    const { rows } = await this.database.pool.query<EntryRow>(
      `select recipient, attempts, fence, stage, lease_owner, held, reason,
         (extract(epoch from due_at)::float8 - extract(epoch from now())::float8) as due_in
       from queued_delivery where message_id = $1 order by recipient`,
      [id],
    );
    return rows;
  }

  /** The first of them. */
  async entry(id: MessageId): Promise<EntryRow | undefined> {
    return (await this.entries(id))[0];
  }

  /** Waits until the message reaches a state. */
  async waitForState(id: MessageId, state: string, timeoutMs?: number): Promise<void> {
    await waitFor(
      `the message to be ${state}`,
      async () => (await this.state(id)) === state,
      timeoutMs,
    );
  }

  /** Waits until nothing holds a lease on the message. @returns its first entry */
  async waitUntilIdle(id: MessageId): Promise<EntryRow> {
    return waitFor('the message to be idle again', async () => {
      const entries = await this.entries(id);
      const isIdle = entries.every((entry) => entry.lease_owner === null && entry.attempts > 0);
      return isIdle ? entries[0] : undefined;
    });
  }

  stores(leaseMs = 30_000) {
    const { database } = this;
    return {
      claims: new ClaimStore(database, leaseMs),
      leases: new LeaseStore(database, leaseMs),
    };
  }

  /** A worker that isn't started. */
  worker(
    attempt: Attempt,
    options: Partial<WorkerOptions> = {},
    dropConnections: () => void = () => undefined,
    log = this.log,
  ): Worker {
    const { clock } = this;
    const registry = new Registry();
    const worker: Worker = new Worker({
      ...this.stores(options.leaseMs),
      attempt,
      log,
      options: { pollMs: 50, graceMs: 500, ...options },
      onRecorded: registerQueueMetrics(registry, this.database, clock, () => 0, log),
      dropConnections,
    });
    this.#workers.push(worker);
    return worker;
  }

  /** A running worker that sends to a server on this machine. */
  deliverTo(
    port: number,
    options: {
      readonly worker?: Partial<WorkerOptions>;
      readonly staging?: StagingRules;
      readonly timeouts?: Partial<SmtpTimeouts>;
    } = {},
  ): Worker {
    const transport = new SmtpPool(inboxServer(port), {
      name: 'client.test',
      timeouts: options.timeouts ?? {},
      holdOffMs: 0,
    });
    const worker = this.worker(this.delivery(transport, options.staging), options.worker, () =>
      transport.drop(),
    );
    worker.start();
    this.#closers.push(() => transport.drop());
    return worker;
  }

  delivery(transport: Transport, staging?: StagingRules): Attempt {
    return createDelivery({
      ...plainDelivery,
      findVersion: () => this.template,
      transport,
      staging: staging ?? { redirect: undefined, allow: [] },
      log: this.log,
    });
  }

  readonly #closers: (() => void)[] = [];

  /** Stops the workers. */
  async close(): Promise<void> {
    await Promise.all(this.#workers.splice(0).map((worker) => worker.stop()));
    for (const close of this.#closers.splice(0)) close();
  }
}

let compiling: Promise<CompiledTemplate> | undefined;

function compiledTemplate(): Promise<CompiledTemplate> {
  const source = {
    subject: 'Hello {{Name}}',
    html: '<p>Hello {{Name}}</p><p><a href="{{Link}}">Reset</a></p>',
    text: 'Hello {{Name}}: {{Link}}',
    fields: { Name: {}, Link: { secret: true } },
  };
  compiling ??= compileVersion({ source }).then(({ compiled, problems }) => {
    if (compiled === null) throw new Error(JSON.stringify(problems));
    return compiled;
  });
  return compiling;
}
