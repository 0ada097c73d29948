import { CompiledQuery } from 'kysely';
import type { WarmUpSchedule } from '../../../accounts/sender/sending-domain.ts';
import type { Database, Kysely } from '../../../base/database/open-database.ts';

/** Warm-up plans and their usage, shared by all nodes. */
export class WarmUpStore {
  readonly #database: Database;
  readonly #node: string;

  constructor(database: Database, node: string) {
    this.#database = database;
    this.#node = node;
  }

  /**
   * Adds what this node has sent and returns the totals of all nodes.
   * @param day in UTC, by the caller's clock
   */
  async share(
    day: string,
    uses: readonly { subject: string; used: number }[],
  ): Promise<Map<string, number>> {
    const { rows } = await this.#database.pool.query<{ subject: string; used: number }>({
      name: 'warm-up-share',
      text: `
        with mine as materialized (select * from json_to_recordset($3::json) as x (subject text, used bigint)),
        added as (
          insert into warm_up_use (subject, day, node, used)
          select subject, $1::date, $2::uuid, used from mine where used <> 0 order by subject
          on conflict (subject, day, node) do update set used = warm_up_use.used + excluded.used)
        select mine.subject, (mine.used + coalesce(sum(u.used), 0))::float8 as used
        from mine left join warm_up_use u on u.subject = mine.subject and u.day = $1::date
        group by mine.subject, mine.used`,
      values: [day, this.#node, JSON.stringify(uses)],
    });
    return new Map(rows.map((row) => [row.subject, row.used]));
  }

  /** Usage on a day across all nodes, by subject. */
  async usedOn(day: string): Promise<Map<string, number>> {
    const { rows } = await this.#database.pool.query<{ subject: string; used: number }>(
      'select subject, sum(used)::float8 as used from warm_up_use where day = $1 group by subject',
      [day],
    );
    return new Map(rows.map((row) => [row.subject, row.used]));
  }

  /** Plans of source addresses. */
  async sourcePlans(): Promise<Map<string, WarmUpSchedule>> {
    const { rows } = await this.#database.pool.query<{
      address: string;
      from: string;
      plan: number[];
    }>(`select address, warm_up_from::text as "from", warm_up_plan as plan from source_warm_up`);
    return new Map(rows.map(({ address, from, plan }) => [address, { from, plan }]));
  }

  /** Sets or removes the plan of a source address. */
  async setSourcePlan(
    transaction: Kysely,
    address: string,
    warmUp: WarmUpSchedule | undefined,
  ): Promise<void> {
    await transaction.executeQuery(
      warmUp === undefined
        ? CompiledQuery.raw('delete from source_warm_up where address = $1', [address])
        : CompiledQuery.raw(
            `insert into source_warm_up (address, warm_up_from, warm_up_plan) values ($1, $2, $3)
             on conflict (address) do update set warm_up_from = excluded.warm_up_from, warm_up_plan = excluded.warm_up_plan`,
            [address, warmUp.from, [...warmUp.plan]],
          ),
    );
  }

  /** Deletes past days. */
  async clean(): Promise<void> {
    await this.#database.pool.query('delete from warm_up_use where day < current_date - 7');
  }
}
