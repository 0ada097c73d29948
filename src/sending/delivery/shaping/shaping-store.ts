import { CompiledQuery } from 'kysely';
import type { Database, Kysely } from '../../../base/database/open-database.ts';
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
  readonly slowedReason: string | null;
  readonly override: RateOverride;
  readonly version: string;
  /** Other nodes, per second. */
  readonly othersDemand: number;
  readonly othersSent: number;
}

// Times are stored relative to the database clock, so that nodes' clocks don't need to agree.
const timeOf = (column: string, now: string) =>
  `${now}::float8 + extract(epoch from ${column} - now())::float8 * 1000`;

const override = (of = '') => `json_strip_nulls(json_build_object('rate', ${of}override_rate,
  'connections', ${of}override_connections, 'messagesPerConnection', ${of}override_session_messages))`;

/** SQL: the columns of `DestinationState`. @param now SQL for the time of the caller's clock */
const columns = (now: string) => `
  d.name, d.label, d.slowed_reason as "slowedReason", d.version, ${override('d.')} as override,
  json_strip_nulls(json_build_object('rate', d.rate, 'good', d.good, 'bad', d.bad, 'connections', d.connections,
    'changedAt', ${timeOf('d.changed_at', now)}, 'connectionsChangedAt', ${timeOf('d.connections_at', now)},
    'slowedAt', ${timeOf('d.slowed_at', now)}, 'blockedUntil', coalesce(${timeOf('d.blocked_until', now)}, ${now}::float8),
    'session', case when d.session_messages is not null then json_build_object('maxMessages', d.session_messages,
      'learnedAt', ${timeOf('d.session_at', now)}, 'reason', coalesce(d.session_reason, '')) end)) as throttle,
  coalesce(n.demand, 0) as "othersDemand", coalesce(n.sent, 0) as "othersSent"`;

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
    const run = () =>
      this.#database.pool.query<DestinationState>({
        name: 'shaping-beat',
        text: heartbeatStatement,
        values: [this.#node, JSON.stringify(heartbeats), this.#now()],
      });
    const { rows } = await run();
    // Rows inserted by this statement aren't visible to its own select.
    const isComplete = heartbeats.every(({ name }) => rows.some((row) => row.name === name));
    return isComplete ? rows : (await run()).rows;
  }

  /**
   * Saves what was learned unless another node has saved in the meantime.
   * @returns the new version, or undefined if it wasn't saved
   */
  async save(
    name: string,
    version: string,
    throttle: ThrottleState,
    slowedReason: string | null,
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
        slowedReason,
        throttle.session?.maxMessages ?? null,
        throttle.session === undefined ? null : now - throttle.session.learnedAt,
        throttle.session?.reason ?? null,
      ],
    });
    return rows[0]?.version;
  }

  /** All destinations with activity across all nodes, for display. */
  async list(): Promise<DestinationState[]> {
    const { rows } = await this.#database.pool.query<DestinationState>(
      `select ${columns('$1')}
       from destination d
       left join lateral (
         select sum(demand) as demand, sum(sent) as sent from destination_node n
         where n.name = d.name and n.seen_at > now() - interval '5 s') n on true
       order by d.name`,
      [this.#now()],
    );
    return rows;
  }

  /** A destination's manual limits; undefined if the destination is unknown. */
  async readOverride(
    name: string,
    kysely: Kysely = this.#database.kysely,
  ): Promise<RateOverride | undefined> {
    const { rows } = await kysely.executeQuery<{ override: RateOverride }>(
      CompiledQuery.raw(`select ${override()} as override from destination where name = $1`, [
        name,
      ]),
    );
    return rows[0]?.override;
  }

  /**
   * Sets manual limits that override learned ones.
   * @param kysely a transaction, if more is to be committed with it
   * @returns false if the destination is unknown
   */
  async override(
    name: string,
    { rate, connections, messagesPerConnection }: RateOverride,
    kysely: Kysely = this.#database.kysely,
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
  select ${columns('$3')}
  from mine join destination d using (name)
  left join lateral (
    select sum(demand) as demand, sum(sent) as sent from destination_node n
    where n.name = d.name and n.node <> $1::uuid and n.seen_at > now() - interval '4 s') n on true`;
