import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';

/** An audit log entry, as shown to people. */
interface AuditEntry {
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

interface AuditFilter {
  readonly kind: string | undefined;
  /** Email of the acting person, in lower case. */
  readonly email: string | undefined;
  /** Half-open range: from inclusive, until exclusive. */
  readonly from: Date | undefined;
  readonly until: Date | undefined;
}

/** The audit log of an account, or without one the installation's own entries, newest first. */
export async function readAuditPage(
  kysely: Database['kysely'],
  accountId: AccountId | undefined,
  filter: AuditFilter,
  page: {
    readonly before: { readonly at: string; readonly id: string } | undefined;
    readonly limit: number;
  },
): Promise<(AuditEntry & { readonly place: string })[]> {
  const { before, limit } = page;
  const kind = filter.kind ?? null;
  const email = filter.email ?? null;
  const from = filter.from ?? null;
  const until = filter.until ?? null;
  const scope =
    accountId === undefined ? sql`e.account_id is null` : sql`e.account_id = ${accountId}`;
  const { rows } = await sql<AuditEntry & { place: string }>`
    select e.id, e.at, e.kind, e.outcome, p.email, e.client_id as "clientId", e.remote_address as "remoteAddress",
      e.request_id as "requestId", e.detail, e.at::text as place
    from audit_event e left join person p on p.id = e.person_id
    where ${scope} and (${kind}::text is null or e.kind = ${kind})
      and (${email}::text is null or e.person_id = (select id from person where email = ${email}))
      and (${from}::timestamptz is null or e.at >= ${from}) and (${until}::timestamptz is null or e.at < ${until})
      and (${before?.at ?? null}::timestamptz is null
        or (e.at, e.id) < (${before?.at ?? null}::timestamptz, ${before?.id ?? null}::uuid))
    order by e.at desc, e.id desc limit ${limit}`.execute(kysely);
  return rows;
}
