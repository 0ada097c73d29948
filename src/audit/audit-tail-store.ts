import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import { findWindowEnd } from '../foundation/log-output/log-cursor-store.ts';
import type { LogWindow } from '../foundation/log-output/log-tail.ts';

type Kysely = Database['kysely'];

/** An event as its line has it. */
export interface AuditLine {
  readonly at: Date;
  readonly kind: string;
  readonly outcome: string;
  readonly personId: string | null;
  readonly clientId: string | null;
  readonly accountId: string | null;
  readonly client: string | null;
  readonly requestId: string | null;
  readonly detail: unknown;
}

/** The end of a window of about `limit` audit events. */
export function findAuditWindowEnd(
  transaction: Kysely,
  from: string,
  end: string,
  limit: number,
): Promise<string> {
  const first = sql`
    select tx from audit_event where tx >= ${from}::xid8 and tx < ${end}::xid8 order by tx limit ${limit}`;
  return findWindowEnd(transaction, first, end, limit);
}

/** The audit events of a window, in commit order. */
export async function readAuditWindow(
  transaction: Kysely,
  { from, until }: LogWindow,
): Promise<AuditLine[]> {
  const { rows } = await sql<AuditLine>`
    select at, kind, outcome, person_id as "personId", client_id as "clientId", account_id as "accountId",
      remote_address as client, request_id as "requestId", detail
    from audit_event where tx >= ${from}::xid8 and tx < ${until}::xid8
    order by tx, at, id`.execute(transaction);
  return rows;
}
