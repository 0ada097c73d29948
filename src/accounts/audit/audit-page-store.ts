import { type RawBuilder, sql } from 'kysely';
import type { Database, Kysely } from '../../base/database/open-database.ts';
import { allRows } from '../../base/database/statements.ts';
import { TimeBudget } from '../../base/fairness/time-budget.ts';
import { comparableAddress } from '../../base/values/email-address.ts';
import type { AccountId } from '../../base/values/ids.ts';

/** An audit log entry, as shown to people. */
export interface AuditEntry {
  readonly id: string;
  readonly at: Date;
  readonly kind: string;
  readonly outcome: string;
  readonly email: string | null;
  /** The person's name. */
  readonly name: string | null;
  /** The name of the API key that did it, while it exists. */
  readonly keyName: string | null;
  readonly clientId: string | null;
  readonly remoteAddress: string | null;
  readonly requestId: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
}

interface AuditFilter {
  readonly kind: string | undefined;
  readonly thing: AuditThing | undefined;
  /** Email of the acting person, in lower case. */
  readonly email: string | undefined;
  /** Words that are all in the entry, each in one of its forms. */
  readonly words: readonly (readonly string[])[];
  /** Half-open range: from inclusive, until exclusive. */
  readonly from: Date | undefined;
  readonly until: Date | undefined;
}

interface Place {
  readonly at: string;
  readonly id: string;
}

interface AuditPage {
  /** Newest first. */
  readonly entries: readonly (AuditEntry & { readonly place: string })[];
  /** Where the next page starts; undefined at the end. */
  readonly next: Place | undefined;
}

/** Entries read per statement where some of them have to be checked. */
const maxScanned = 1_000;
const pageBudgetMs = 25;

/**
 * The audit log of an account, or without one the installation's own entries, newest first. A page can be short even if more
 * follow.
 */
export async function readAuditPage(
  kysely: Kysely,
  accountId: AccountId | undefined,
  filter: AuditFilter,
  page: { readonly before: Place | undefined; readonly limit: number },
): Promise<AuditPage> {
  const checks = checksOf(filter);
  const time = new TimeBudget(pageBudgetMs);
  const entries: (AuditEntry & { place: string })[] = [];
  let { before } = page;
  for (;;) {
    const missing = page.limit + 1 - entries.length;
    const scanned = checks.length === 0 ? missing : maxScanned;
    const scan = await scanEntries(kysely, rangeOf(accountId, filter, before), checks, {
      scanned,
      limit: missing,
    });
    entries.push(...scan.entries);
    const last = entries[page.limit - 1];
    if (entries.length > page.limit && last !== undefined)
      return { entries: entries.slice(0, page.limit), next: { at: last.place, id: last.id } };
    before = scan.end;
    if (before === undefined || time.isExpired()) return { entries, next: before };
  }
}

type Condition = RawBuilder<unknown>;

/** Conditions that an index serves. */
function rangeOf(
  accountId: AccountId | undefined,
  { kind, email, from, until }: AuditFilter,
  before: Place | undefined,
): Condition[] {
  return [
    accountId === undefined ? sql`e.account_id is null` : sql`e.account_id = ${accountId}`,
    ...(kind === undefined ? [] : [sql`e.kind = ${kind}`]),
    ...(email === undefined
      ? []
      : [sql`e.person_id = (select id from person where email = ${email})`]),
    ...(from === undefined ? [] : [sql`e.at >= ${from}`]),
    ...(until === undefined ? [] : [sql`e.at < ${until}`]),
    ...(before === undefined
      ? []
      : [sql`(e.at, e.id) < (${before.at}::timestamptz, ${before.id}::uuid)`]),
  ];
}

/** Conditions that each entry is checked with. */
function checksOf({ thing, words }: AuditFilter): Condition[] {
  return [
    ...(thing === undefined ? [] : [sql`e.kind ~ ${kindPattern(thing)}`]),
    ...words.map(
      (forms) =>
        sql`exists (select from unnest(${forms}::text[]) as f where position(f in ${searchedText}) > 0)`,
    ),
  ];
}

const searchedText = sql`lower(concat_ws(' ', replace(e.kind, '_', ' '), e.kind, p.email, p.name, k.name, e.client_id,
  e.remote_address, e.request_id, e.detail::text))`;

async function scanEntries(
  kysely: Kysely,
  range: readonly Condition[],
  checks: readonly Condition[],
  { scanned, limit }: { readonly scanned: number; readonly limit: number },
) {
  const rows = await allRows<
    Omit<AuditEntry, 'id'> & { id: string | null; place: string; end: [string, string] | null }
  >(kysely)`
    with scanned as materialized (
      select * from audit_event e where ${sql.join(range, sql` and `)}
      order by e.at desc, e.id desc limit ${scanned})
    select e.*, last."end"
    from (select (
      select json_build_array(at::text, id) from scanned order by at desc, id desc offset ${scanned - 1} limit 1) as "end") as last
    left join (
      select e.id, e.at, e.kind, e.outcome, p.email, p.name, k.name as "keyName", e.client_id as "clientId",
        e.remote_address as "remoteAddress", e.request_id as "requestId", e.detail, e.at::text as place
      from scanned e
      left join person p on p.id = e.person_id
      left join api_key k on k.account_id = e.account_id and k.id::text = e.detail ->> 'apiKey'
      where ${sql.join([sql`true`, ...checks], sql` and `)}
      order by e.at desc, e.id desc limit ${limit}) as e on true
    order by e.at desc, e.id desc`;
  const [at, id] = rows[0]?.end ?? [];
  return {
    entries: rows.flatMap(({ end: _, id: found, ...row }) =>
      found === null ? [] : { ...row, id: found },
    ),
    end: at === undefined || id === undefined ? undefined : { at, id },
  };
}

/** What audit events are about, with how their kinds begin. */
const kindStarts = {
  account: ['account', 'policy', 'set_up', 'manifest', 'allowance', 'source', 'outbox_source'],
  user: [
    'user',
    'invitation',
    'operator',
    'membership',
    'person_created',
    'person_changed',
    'person_removed',
  ],
  access: [
    'sign_in',
    'password',
    'second_factor',
    'recovery_codes',
    'client_secret',
    'session',
    'consent',
    'client_authentication',
    'code_grant',
    'grant_code',
    'refresh_token',
    'token',
  ],
  key: ['api_key'],
  integration: ['integration'],
  webhook: ['webhook'],
  template: ['template', 'mail_template'],
  sender: ['sender'],
  domain: ['domain'],
  message: ['message', 'queue', 'schedule', 'pause', 'inbox', 'receiver'],
  list: ['list', 'contact'],
  suppression: ['suppression'],
  privacy: ['retention_rule', 'person_exported', 'person_erased'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

type AuditThing = keyof typeof kindStarts;

export const auditThings = Object.keys(kindStarts) as AuditThing[];

/** A regular expression for the kinds of events about a thing. */
function kindPattern(thing: AuditThing): string {
  return `^(?:${kindStarts[thing].join('|')})(?:_|s_|$)`;
}

/** Filters for the audit log; omitted ones match everything. */
interface AuditQuery {
  readonly email?: string | undefined;
  readonly clientId?: string | undefined;
  readonly kind?: string | undefined;
  readonly outcome?: string | undefined;
  readonly remoteAddress?: string | undefined;
  readonly since?: Date | undefined;
  readonly limit: number;
}

/** An event of the audit log as an operator sees it. */
export interface AuditLogEntry extends Omit<AuditEntry, 'id' | 'name' | 'keyName'> {
  readonly accountId: string | null;
}

/** The newest matching events, newest first. */
export function readAuditLog(database: Database, query: AuditQuery): Promise<AuditLogEntry[]> {
  const email = query.email === undefined ? null : comparableAddress(query.email);
  const { clientId = null, kind = null, outcome = null, remoteAddress = null } = query;
  return allRows<AuditLogEntry>(database.kysely)`
    select e.at, e.kind, e.outcome, p.email, e.client_id as "clientId", e.account_id as "accountId",
      e.remote_address as "remoteAddress", e.request_id as "requestId", e.detail
    from audit_event e left join person p on p.id = e.person_id
    where (${email}::text is null or e.person_id = (select id from person where email = ${email}))
      and (${clientId}::text is null or e.client_id = ${clientId})
      and (${kind}::text is null or e.kind = ${kind})
      and (${outcome}::text is null or e.outcome = ${outcome})
      and (${remoteAddress}::text is null or e.remote_address = ${remoteAddress})
      and (${query.since ?? null}::timestamptz is null or e.at >= ${query.since ?? null})
    order by e.at desc, e.id desc limit ${query.limit}`;
}
