import { CompiledQuery } from 'kysely';
import type { Database } from '../../foundation/database/open-database.ts';
import type { SmtpSessionLength } from './smtp-session-length.ts';
import type { ThrottleState } from './throttle-state.ts';

/** What a node reports about a destination. */
export interface DestinationHeartbeat {
  readonly name: string;
  readonly label: string;
  /** Used if the destination is new. */
  readonly startRate: number;
  readonly startConnections: number;
  /** Per second, on this node. */
  readonly demand: number;
  readonly sent: number;
}

/** Manual limits that override learned ones; absent fields stay learned. */
export interface RateOverride {
  /** Messages per second across all nodes. */
  readonly rate?: number | undefined;
  /** Connections across all nodes. */
  readonly connections?: number | undefined;
  readonly messagesPerConnection?: number | undefined;
}

/** A destination's state across all nodes. */
export interface DestinationState {
  readonly name: string;
  readonly label: string;
  /** Times are in the caller's clock. */
  readonly throttle: ThrottleState;
  readonly slowedReason: string | undefined;
  readonly override: RateOverride;
  readonly version: string;
  /** Other nodes, per second. */
  readonly othersDemand: number;
  readonly othersSent: number;
}

interface DestinationRow {
  name: string;
  label: string;
  rate: number;
  good: number;
  bad: number | null;
  connections: number;
  changed_ago: number;
  connections_ago: number;
  slowed_ago: number | null;
  blocked_in: number | null;
  slowed_reason: string | null;
  override_rate: number | null;
  override_connections: number | null;
  override_session_messages: number | null;
  session_messages: number | null;
  session_ago: number | null;
  session_reason: string | null;
  version: string;
  others_demand: number;
  others_sent: number;
}

// Times are stored relative to the database clock, so that nodes' clocks don't need to agree.
const columns = `
  d.name, d.label, d.rate, d.good, d.bad, d.connections, d.slowed_reason, d.override_rate, d.override_connections,
  d.override_session_messages, d.session_messages, d.session_reason, d.version, extract(epoch from now() - d.changed_at)::float8 * 1000 as changed_ago,
  extract(epoch from now() - d.connections_at)::float8 * 1000 as connections_ago,
  extract(epoch from now() - d.slowed_at)::float8 * 1000 as slowed_ago,
  extract(epoch from now() - d.session_at)::float8 * 1000 as session_ago,
  extract(epoch from d.blocked_until - now())::float8 * 1000 as blocked_in`;

/** Destination rates, shared by all nodes. */
export class ShapingStore {
  readonly #database: Database;
  readonly #node: string;
  readonly #now: () => number;

  /** @param node identifies this process|@param now the clock that times are converted to */
  constructor(database: Database, node: string, now: () => number) {
    this.#database = database;
    this.#node = node;
    this.#now = now;
  }

  /** Reports this node's activity and returns the shared state of its destinations. */
  async heartbeat(heartbeats: readonly DestinationHeartbeat[]): Promise<DestinationState[]> {
    const { rows } = await this.#database.pool.query<DestinationRow>({
      name: 'shaping-beat',
      text: heartbeatStatement,
      values: [this.#node, JSON.stringify(heartbeats)],
    });
    // Rows inserted by this statement aren't visible to its own select.
    const missing = heartbeats.some(
      (heartbeat) => !rows.some((row) => row.name === heartbeat.name),
    );
    if (!missing) return rows.map((row) => this.#stateOf(row));
    const again = await this.#database.pool.query<DestinationRow>({
      name: 'shaping-beat',
      text: heartbeatStatement,
      values: [this.#node, JSON.stringify(heartbeats)],
    });
    return again.rows.map((row) => this.#stateOf(row));
  }

  /**
   * Saves what was learned unless another node has saved in the meantime.
   * @returns the new version, or undefined if it wasn't saved
   */
  async save(
    name: string,
    version: string,
    throttle: ThrottleState,
    slowedReason: string | undefined,
  ): Promise<string | undefined> {
    const now = this.#now();
    const { rows } = await this.#database.pool.query<{ version: string }>({
      name: 'shaping-save',
      text: `
        update destination
        set rate = $3, good = $4, bad = $5, connections = $6,
          changed_at = now() - $7::float8 * interval '1 ms',
          connections_at = now() - $8::float8 * interval '1 ms',
          slowed_at = now() - $9::float8 * interval '1 ms',
          blocked_until = now() + $10::float8 * interval '1 ms',
          slowed_reason = $11, session_messages = $12,
          session_at = now() - $13::float8 * interval '1 ms', session_reason = $14, version = version + 1
        where name = $1 and version = $2
        returning version`,
      values: [
        name,
        version,
        throttle.rate,
        throttle.good,
        throttle.bad ?? null,
        throttle.connections,
        now - throttle.changedAt,
        now - throttle.connectionsChangedAt,
        throttle.slowedAt === undefined ? null : now - throttle.slowedAt,
        throttle.blockedUntil > now ? throttle.blockedUntil - now : null,
        slowedReason ?? null,
        throttle.session?.maxMessages ?? null,
        throttle.session === undefined ? null : now - throttle.session.learnedAt,
        throttle.session?.reason ?? null,
      ],
    });
    return rows[0]?.version;
  }

  /** All destinations with activity across all nodes, for display. */
  async list(): Promise<DestinationState[]> {
    const { rows } = await this.#database.pool.query<DestinationRow>(`
      select ${columns}, coalesce(n.demand, 0) as others_demand, coalesce(n.sent, 0) as others_sent
      from destination d
      left join lateral (
        select sum(demand) as demand, sum(sent) as sent from destination_node n
        where n.name = d.name and n.seen_at > now() - interval '5 s') n on true
      order by d.name`);
    return rows.map((row) => this.#stateOf(row));
  }

  /** A destination's manual limits; undefined if the destination is unknown. */
  async readOverride(
    name: string,
    kysely: Database['kysely'] = this.#database.kysely,
  ): Promise<RateOverride | undefined> {
    const { rows } = await kysely.executeQuery<OverrideRow>(
      CompiledQuery.raw(
        `select override_rate, override_connections, override_session_messages
         from destination where name = $1`,
        [name],
      ),
    );
    const [row] = rows;
    return row && overrideOf(row);
  }

  /**
   * Sets manual limits that override learned ones.
   * @param kysely a transaction, if more is to be committed with it
   * @returns false if the destination is unknown
   */
  async override(
    name: string,
    { rate, connections, messagesPerConnection }: RateOverride,
    kysely: Database['kysely'] = this.#database.kysely,
  ): Promise<boolean> {
    const { numAffectedRows } = await kysely.executeQuery(
      CompiledQuery.raw(
        `update destination
         set override_rate = $2, override_connections = $3, override_session_messages = $4, version = version + 1
         where name = $1`,
        [name, rate ?? null, connections ?? null, messagesPerConnection ?? null],
      ),
    );
    return numAffectedRows === 1n;
  }

  /** Deletes nodes that are gone and destinations about which nothing was learned for a week. */
  async clean(): Promise<void> {
    await this.#database.pool.query(
      "delete from destination_node where seen_at < now() - interval '1 hour'",
    );
    await this.#database.pool.query(`
      delete from destination d
      where d.changed_at < now() - interval '7 days'
        and (d.slowed_at is null or d.slowed_at < now() - interval '30 days')
        and (d.session_at is null or d.session_at < now() - interval '30 days')
        and d.override_rate is null and d.override_connections is null and d.override_session_messages is null
        and not exists (select from destination_node n where n.name = d.name)`);
  }

  #stateOf(row: DestinationRow): DestinationState {
    const now = this.#now();
    return {
      name: row.name,
      label: row.label,
      throttle: {
        rate: row.rate,
        good: row.good,
        bad: row.bad ?? undefined,
        connections: row.connections,
        changedAt: now - row.changed_ago,
        connectionsChangedAt: now - row.connections_ago,
        slowedAt: row.slowed_ago === null ? undefined : now - row.slowed_ago,
        blockedUntil: now + (row.blocked_in ?? 0),
        session: readSession(row, now),
      },
      slowedReason: row.slowed_reason ?? undefined,
      override: overrideOf(row),
      version: row.version,
      othersDemand: row.others_demand,
      othersSent: row.others_sent,
    };
  }
}

type OverrideRow = Pick<
  DestinationRow,
  'override_rate' | 'override_connections' | 'override_session_messages'
>;

function overrideOf(row: OverrideRow): RateOverride {
  return {
    rate: row.override_rate ?? undefined,
    connections: row.override_connections ?? undefined,
    messagesPerConnection: row.override_session_messages ?? undefined,
  };
}

function readSession(row: DestinationRow, now: number): SmtpSessionLength | undefined {
  const { session_messages: maxMessages, session_ago: ago, session_reason: reason } = row;
  if (maxMessages === null) return undefined;
  return { maxMessages, learnedAt: now - (ago ?? 0), reason: reason ?? '' };
}

const heartbeatStatement = `
  with mine as materialized (
    select * from json_to_recordset($2::json) as x (name text, label text, "startRate" float8, "startConnections" int,
      demand float8, sent float8)),
  created as (
    insert into destination (name, label, rate, good, connections)
    select name, label, "startRate", "startRate" / 2, "startConnections" from mine order by name
    on conflict do nothing),
  reported as (
    insert into destination_node (name, node, demand, sent, seen_at)
    select name, $1::uuid, demand, sent, now() from mine order by name
    on conflict (name, node) do update
      set demand = excluded.demand, sent = excluded.sent, seen_at = excluded.seen_at)
  select ${columns}, coalesce(n.demand, 0) as others_demand, coalesce(n.sent, 0) as others_sent
  from mine join destination d using (name)
  left join lateral (
    select sum(demand) as demand, sum(sent) as sent from destination_node n
    where n.name = d.name and n.node <> $1::uuid and n.seen_at > now() - interval '4 s') n on true`;
