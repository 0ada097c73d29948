import { type RawBuilder, sql } from 'kysely';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow } from '../../base/database/statements.ts';
import { TimeBudget } from '../../base/fairness/time-budget.ts';
import type { AccountId, MessageId } from '../../base/values/ids.ts';
import { recentFrom } from './find-messages-store.ts';
import { subjectWordHash } from './subject-words-store.ts';

/** A range of message IDs; `before` is exclusive. */
interface SubjectRange {
  readonly before: string;
  readonly minId: string;
  readonly limit: number;
}

interface FoundIds {
  /** Newest first. */
  readonly ids: readonly MessageId[];
  /** Where to continue; undefined if there are no more. */
  readonly next: MessageId | undefined;
}

/** Rows scanned per statement. */
const maxScanned = 1_000;
const budgetMs = 25;
/** More templates than this with a word in common are found by scanning the newest messages. */
const maxTemplates = 20;
/** Templates read for the words of a search. */
const maxTemplateWords = 2_000;
/** Ways to find the words that are tried: with the most words in the fixed text of a template first. */
const maxPlans = 6;

/**
 * Messages whose subject may contain all words, newest first; check their subjects. A word is in the fixed text of a template's
 * subject or in the value of a field, so the words are split in each way that some template allows.
 * @param words of `wordsOf`, at least one
 */
export async function findBySubject(
  kysely: Kysely,
  accountId: AccountId,
  words: readonly string[],
  range: SubjectRange,
): Promise<FoundIds> {
  const time = new TimeBudget(budgetMs);
  const found = new Set<MessageId>();
  let next: MessageId | undefined;
  for (const plan of await planSearches(kysely, accountId, words)) {
    const part = await runPlan(kysely, accountId, plan, range, time);
    for (const id of part.ids) found.add(id);
    // Below the first position where a plan stopped, its messages would be missing.
    if (part.next !== undefined && (next === undefined || part.next > next)) next = part.next;
  }
  const end = next;
  const ids = [...found].filter((id) => end === undefined || id >= end).sort();
  return { ids: ids.reverse(), next };
}

/** Finds messages by these words of values, or by templates if there are none. */
interface SearchPlan {
  readonly words: readonly string[];
  readonly templateIds: readonly string[];
}

async function planSearches(
  kysely: Kysely,
  accountId: AccountId,
  words: readonly string[],
): Promise<SearchPlan[]> {
  const rows = await allRows<{ templateId: string; word: string }>(kysely)`
    select template_id as "templateId", word from subject_word
    where account_id = ${accountId} and word = any(${words}::text[])
    order by template_id limit ${maxTemplateWords}`;
  const fixed = Map.groupBy(rows, ({ templateId }) => templateId);
  const plans = new Map<string, { words: readonly string[]; templateIds: string[] }>();
  for (const [templateId, own] of fixed) {
    const others = words.filter((word) => !own.some((row) => row.word === word));
    const plan = plans.get(others.join(' ')) ?? { words: others, templateIds: [] };
    plan.templateIds.push(templateId);
    plans.set(others.join(' '), plan);
  }
  const sorted = [...plans.values()].sort((a, b) => a.words.length - b.words.length);
  // Subject lines of requests have no fixed text.
  return [...sorted.slice(0, maxPlans), { words, templateIds: [] }];
}

async function runPlan(
  kysely: Kysely,
  accountId: AccountId,
  plan: SearchPlan,
  { before, minId, limit }: SubjectRange,
  time: TimeBudget,
): Promise<FoundIds> {
  const hashes = await rarestFirst(kysely, accountId, plan.words.map(subjectWordHash), {
    before,
    minId,
  });
  const ids: MessageId[] = [];
  let end = before;
  let from = recentFrom(minId, before);
  for (;;) {
    const source =
      hashes.length > 0
        ? byWords(accountId, hashes, end, from)
        : byTemplates(accountId, plan.templateIds, end, from, limit);
    const scan = await scanIds(kysely, source, limit - ids.length);
    ids.push(...scan.ids);
    if (ids.length >= limit) return { ids, next: ids.at(-1) };
    if (scan.end !== undefined) {
      end = scan.end;
      if (time.isExpired()) return { ids, next: end as MessageId };
    } else if (from === minId) return { ids, next: undefined };
    else {
      end = from;
      from = minId;
    }
  }
}

/** Rows to scan, and the condition that they are checked with. */
interface IdSource {
  readonly rows: RawBuilder<unknown>;
  readonly matches: RawBuilder<unknown>;
}

async function scanIds(
  kysely: Kysely,
  { rows: scanned, matches }: IdSource,
  limit: number,
): Promise<{ readonly ids: readonly MessageId[]; readonly end: string | undefined }> {
  const row = await firstRow<{ ids: MessageId[]; end: string | null }>(kysely)`
    with scanned as materialized (${scanned} order by message_id desc limit ${maxScanned})
    select array(select message_id from scanned as s where ${matches} order by message_id desc limit ${limit}) as ids,
      (select message_id from scanned order by message_id desc offset ${maxScanned - 1} limit 1) as "end"`;
  return { ids: row?.ids ?? [], end: row?.end ?? undefined };
}

/** @param hashes the first is scanned, the others are looked up */
function byWords(
  accountId: AccountId,
  [first, ...others]: readonly Buffer[],
  before: string,
  from: string,
): IdSource {
  const rows = sql`
    select message_id, retention_days from message_attribute
    where account_id = ${accountId} and hash = ${first} and message_id < ${before}::uuid and message_id >= ${from}::uuid`;
  const conditions = others.map(
    (hash) => sql`exists (select from message_attribute o
      where o.account_id = ${accountId} and o.hash = ${hash} and o.message_id = s.message_id
        and o.retention_days = s.retention_days)`,
  );
  return { rows, matches: sql.join([sql`true`, ...conditions], sql` and `) };
}

function byTemplates(
  accountId: AccountId,
  templateIds: readonly string[],
  before: string,
  from: string,
  limit: number,
): IdSource {
  const inRange = sql`account_id = ${accountId} and message_id < ${before}::uuid and message_id >= ${from}::uuid
    and recipient = 0`;
  if (templateIds.length > maxTemplates) {
    const rows = sql`select message_id, template_id from message_search where ${inRange}`;
    return { rows, matches: sql`template_id = any(${templateIds}::text[])` };
  }
  // The newest of all are among the newest of each.
  const rows = sql`
    select r.message_id from unnest(${templateIds}::text[]) as t (id) cross join lateral (
      select message_id from message_search where ${inRange} and template_id = t.id
      order by message_id desc limit ${limit}) as r`;
  return { rows, matches: sql`true` };
}

/** The hashes with the fewest rows first, as far as they are worth counting. */
async function rarestFirst(
  kysely: Kysely,
  accountId: AccountId,
  hashes: readonly Buffer[],
  { before, minId }: Pick<SubjectRange, 'before' | 'minId'>,
): Promise<readonly Buffer[]> {
  if (hashes.length < 2) return hashes;
  const from = recentFrom(minId, before);
  const rows = await allRows<{ n: number; count: number }>(kysely)`
    select h.n::int as n, counted.count::int as count
    from unnest(${hashes}::bytea[]) with ordinality as h (hash, n)
    cross join lateral (
      select count(*) from (
        select from message_attribute
        where account_id = ${accountId} and hash = h.hash and message_id < ${before}::uuid and message_id >= ${from}::uuid
        limit ${maxScanned}) as few) as counted
    order by count, n`;
  return rows.flatMap(({ n }) => hashes[n - 1] ?? []);
}
