import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { failoverFault, failoverFaultNames } from '../../bench/failover/failover-faults.ts';
import { PatroniCluster } from '../../bench/failover/patroni-cluster.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import {
  CustomerDatabase,
  countWaitingSql,
  postgresSchema,
  readRowsSql,
  sourcePassword,
  type Writing,
  type WrittenRow,
} from '../support/customer-database.ts';
import { OutboxProof, say } from '../support/outbox-proof.ts';

const minutes = Number(process.env.OUTBOX_FAILOVER_MINUTES ?? 15);
/** Rows a second. */
const rate = Number(process.env.OUTBOX_FAILOVER_RATE ?? 50);
/** After each fault. */
const calmMs = 5_000;
/** How long a program waits for a commit. */
const writeTimeoutMs = 5_000;
const readTimeoutMs = 60_000;

/** A cluster under Patroni: programs write into its primary, past the network between it and the service. */
class ClusterCustomer extends CustomerDatabase {
  readonly #cluster: PatroniCluster;
  readonly #idle: pg.Client[] = [];

  constructor(cluster: PatroniCluster) {
    super('cluster');
    this.#cluster = cluster;
  }

  get url(): string {
    const hosts = this.#cluster.members.map(({ host }) => host).join(',');
    return `postgres://signalpost:${sourcePassword}@${hosts}/postgres?sslmode=disable&target_session_attrs=read-write`;
  }

  async createTable(): Promise<void> {
    await this.#read((client) => client.query(postgresSchema));
  }

  async rows(): Promise<readonly WrittenRow[]> {
    return (await this.#read((client) => client.query<WrittenRow>(readRowsSql))).rows;
  }

  async countWaiting(): Promise<number> {
    const { rows } = await this.#read((client) => client.query(countWaitingSql));
    return Number(rows[0].count);
  }

  /** How often a standby was promoted since the first start. */
  async countPromotions(): Promise<number> {
    const { rows } = await this.#read((client) =>
      client.query<{ timeline: number }>(
        'select timeline_id as timeline from pg_control_checkpoint()',
      ),
    );
    return (rows[0]?.timeline ?? 1) - 1;
  }

  /** Closes the connections that nobody uses. */
  async close(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((client) => client.end()));
  }

  protected async open(): Promise<Writing> {
    const client = this.#idle.pop() ?? (await this.#connect(writeTimeoutMs));
    return {
      run: (sql, values) => client.query(sql, values && [...values]),
      end: (isBroken) => {
        if (isBroken) client.end().catch(() => undefined);
        else this.#idle.push(client);
      },
    };
  }

  protected placeholder(index: number): string {
    return `$${index + 1}`;
  }

  /** Connects to the primary. */
  async #connect(timeoutMs: number): Promise<pg.Client> {
    for (const member of this.#cluster.members) {
      const client = await member.connect(timeoutMs).catch(() => undefined);
      if (client === undefined) continue;
      const found = await client
        .query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
        .catch(() => undefined);
      if (found?.rows[0]?.standby === false) return client;
      client.end().catch(() => undefined);
    }
    throw new Error('no member is the primary');
  }

  async #read<Result>(query: (client: pg.Client) => Promise<Result>): Promise<Result> {
    const client = await this.#connect(readTimeoutMs);
    try {
      return await query(client);
    } finally {
      client.end().catch(() => undefined);
    }
  }
}

test('each committed row of a cluster under Patroni is mailed once and no other one, whichever member fails', {
  // The last fault, the answers, the queue and the comparison come after the minutes of load.
  timeout: (minutes + 45) * 60_000,
}, async (t) => {
  await using closing = new AsyncDisposableStack();
  const cluster = await PatroniCluster.start(true, { wal_level: 'logical' });
  closing.defer(() => cluster.stop());
  const source = new ClusterCustomer(cluster);
  closing.defer(() => source.close());
  await source.createTable();
  const proof = closing.use(await OutboxProof.open([source]));
  proof.startWriting(rate);
  const until = Date.now() + minutes * 60_000;
  const faults: Record<string, number> = {};
  for (let turn = 0; Date.now() < until; turn += 1) {
    const name = failoverFaultNames[turn % failoverFaultNames.length];
    if (name === undefined) break;
    const { prepare, inject, seconds, end } = failoverFault(name);
    const scene = await cluster.waitUntilWhole();
    say(name);
    await prepare?.(scene);
    await inject(scene);
    await delay(seconds * 1_000);
    end?.(scene);
    await cluster.waitUntilWhole();
    faults[name] = (faults[name] ?? 0) + 1;
    await delay(calmMs);
  }
  const promotions = await waitFor('the promotions', () =>
    source.countPromotions().catch(() => undefined),
  );
  const { counts, findings } = await proof.finish();
  const summary = JSON.stringify({ ...counts, promotions, faults });
  say(summary);
  t.diagnostic(summary);
  assert.deepEqual(findings, []);
  assert.ok(promotions > 0, 'nothing was promoted');
});
