import { sql } from 'kysely';
import type { Kysely } from '../database/open-database.ts';
import { allRows, run } from '../database/statements.ts';
import type { NodeRole } from './node-role.ts';

/** How often a process reports itself. */
export const processReportMs = 5_000;
/** After three missed reports, a process counts as vanished. */
const vanishedAfterMs = 3 * processReportMs;

/** A process of the service, as it reports itself. */
export interface ProcessFacts {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly roles: readonly string[];
  /** Messages whose lease it holds. */
  readonly inFlight: number;
  /** How late its timers ran since its last report, in milliseconds; the 99th percentile. */
  readonly delayMs: number;
  /** Requests with X-Forwarded-For from proxies that it doesn't trust. */
  readonly unreadForwarded: number;
  /** Reports after delivery that matched no message. */
  readonly unmatchedReports: number;
}

/** A process of the service, as others see it. */
export interface ReportedProcess
  extends Omit<ProcessFacts, 'unreadForwarded' | 'unmatchedReports'> {
  /** `vanished`: it stopped reporting without saying that it stops. */
  readonly state: 'running' | 'vanished';
  readonly startedAt: Date;
  readonly seenAt: Date;
}

/** Reports a process, and deletes those that vanished an hour ago. */
export async function reportProcess(kysely: Kysely, process: ProcessFacts): Promise<void> {
  const { id, host, pid, version, roles, inFlight, delayMs, unreadForwarded, unmatchedReports } =
    process;
  await run(kysely)`
    with forgotten as (delete from service_process where seen_at < now() - interval '1 hour')
    insert into service_process (id, host, pid, version, roles, in_flight, delay_ms, unread_forwarded, unmatched_reports)
    values (${id}, ${host}, ${pid}, ${version}, ${roles}::text[], ${inFlight}, ${delayMs},
      ${unreadForwarded}, ${unmatchedReports})
    on conflict (id) do update
      set seen_at = now(), in_flight = excluded.in_flight, delay_ms = excluded.delay_ms,
        unread_forwarded = excluded.unread_forwarded, unmatched_reports = excluded.unmatched_reports`;
}

/** Removes a stopping process. */
export async function removeProcess(kysely: Kysely, id: string): Promise<void> {
  await run(kysely)`delete from service_process where id = ${id}`;
}

const isVanished = sql`seen_at < now() - ${vanishedAfterMs}::integer * interval '1 ms'`;

/** SQL: how many running processes have the role. */
export const countRunningWith = (role: NodeRole) => sql<string>`
  (select count(*) from service_process where not ${isVanished} and ${role} = any (roles))`;

/** All processes, by host, the longest-running first. */
export function listProcesses(kysely: Kysely): Promise<ReportedProcess[]> {
  return allRows<ReportedProcess>(kysely)`
    select id, host, pid, version, roles, in_flight as "inFlight", delay_ms as "delayMs",
      started_at as "startedAt", seen_at as "seenAt",
      case when ${isVanished} then 'vanished' else 'running' end as state
    from service_process order by host, started_at, pid limit 1000`;
}

/** What running processes couldn't use: requests with X-Forwarded-For that they don't trust, and reports that match no message. */
export async function countUnused(
  kysely: Kysely,
): Promise<Pick<ProcessFacts, 'unreadForwarded' | 'unmatchedReports'>> {
  const rows = await allRows<Pick<ProcessFacts, 'unreadForwarded' | 'unmatchedReports'>>(kysely)`
    select coalesce(sum(unread_forwarded), 0)::float8 as "unreadForwarded",
      coalesce(sum(unmatched_reports), 0)::float8 as "unmatchedReports"
    from service_process where not ${isVanished}`;
  return rows[0] ?? { unreadForwarded: 0, unmatchedReports: 0 };
}

/** How many processes run and how many vanished within the last hour. */
export async function countProcesses(
  kysely: Kysely,
): Promise<Record<ReportedProcess['state'], number>> {
  const rows = await allRows<Record<ReportedProcess['state'], number>>(kysely)`
    select count(*) filter (where not ${isVanished})::int as running,
      count(*) filter (where ${isVanished})::int as vanished
    from service_process`;
  return rows[0] ?? { running: 0, vanished: 0 };
}
