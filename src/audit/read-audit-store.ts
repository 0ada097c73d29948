import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import { comparableAddress } from '../foundation/email-address.ts';

/** Filters for the audit log; omitted ones match everything. */
export interface AuditQuery {
  readonly email?: string | undefined;
  readonly clientId?: string | undefined;
  readonly kind?: string | undefined;
  readonly outcome?: string | undefined;
  readonly remoteAddress?: string | undefined;
  readonly since?: Date | undefined;
  readonly limit: number;
}

/** An event of the audit log as an operator sees it. */
export interface AuditLogEntry {
  readonly at: Date;
  readonly kind: string;
  readonly outcome: string;
  readonly email: string | null;
  readonly clientId: string | null;
  readonly accountId: string | null;
  readonly remoteAddress: string | null;
  readonly requestId: string | null;
  readonly detail: unknown;
}

/** The newest matching events, newest first. */
export async function readAuditLog(
  database: Database,
  query: AuditQuery,
): Promise<AuditLogEntry[]> {
  const email = query.email === undefined ? null : comparableAddress(query.email);
  const { clientId = null, kind = null, outcome = null, remoteAddress = null } = query;
  const { rows } = await sql<AuditLogEntry>`
    select e.at, e.kind, e.outcome, p.email, e.client_id as "clientId", e.account_id as "accountId",
      e.remote_address as "remoteAddress", e.request_id as "requestId", e.detail
    from audit_event e left join person p on p.id = e.person_id
    where (${email}::text is null or e.person_id = (select id from person where email = ${email}))
      and (${clientId}::text is null or e.client_id = ${clientId})
      and (${kind}::text is null or e.kind = ${kind})
      and (${outcome}::text is null or e.outcome = ${outcome})
      and (${remoteAddress}::text is null or e.remote_address = ${remoteAddress})
      and (${query.since ?? null}::timestamptz is null or e.at >= ${query.since ?? null})
    order by e.at desc, e.id desc limit ${query.limit}`.execute(database.kysely);
  return rows;
}
