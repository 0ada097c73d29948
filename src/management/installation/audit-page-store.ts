import { sql } from 'kysely';
import type { Database } from '../../foundation/database/open-database.ts';
import type { AccountId } from '../../foundation/ids.ts';

/** An entry of the audit log as people see it. */
export interface AuditLine {
  readonly id: string;
  readonly at: Date;
  readonly kind: string;
  readonly outcome: string;
  readonly email: string | null;
  readonly clientId: string | null;
  readonly remoteAddress: string | null;
  readonly requestId: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** The audit log of an account, newest first; of the installation's own entries where there is no account. */
export async function readAuditPage(
  kysely: Database['kysely'],
  accountId: AccountId | undefined,
  page: {
    readonly kind: string | undefined;
    readonly before: { readonly at: string; readonly id: string } | undefined;
    readonly limit: number;
  },
): Promise<AuditLine[]> {
  const { kind = null, before, limit } = page;
  const scope =
    accountId === undefined ? sql`e.account_id is null` : sql`e.account_id = ${accountId}`;
  const { rows } = await sql<AuditLine>`
    select e.id, e.at, e.kind, e.outcome, p.email, e.client_id as "clientId", e.remote_address as "remoteAddress",
      e.request_id as "requestId", e.detail
    from audit_event e left join person p on p.id = e.person_id
    where ${scope} and (${kind}::text is null or e.kind = ${kind})
      and (${before?.at ?? null}::timestamptz is null
        or (e.at, e.id) < (${before?.at ?? null}::timestamptz, ${before?.id ?? null}::uuid))
    order by e.at desc, e.id desc limit ${limit}`.execute(kysely);
  return rows;
}
