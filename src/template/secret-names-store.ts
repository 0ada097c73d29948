import { sql } from 'kysely';
import { alignByOrdinal } from '../foundation/database/align-by-ordinal.ts';
import { announceChange } from '../foundation/database/announce.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { type TemplateRef, templateKey, templateTopic } from './template-store.ts';

/**
 * Names of the fields that any published version of these templates declared secret and no owner has revealed, in the same
 * order, as the text of a sorted JSON array.
 */
export async function readKeptSecrets(
  kysely: Database['kysely'],
  refs: readonly TemplateRef[],
): Promise<string[]> {
  const { rows } = await sql<{ n: number; names: string }>`
    select k.n::int as n, json_agg(s.name order by s.name)::text as names
    from unnest(${refs.map((ref) => ref.accountId)}::text[], ${refs.map((ref) => ref.templateId)}::text[])
      with ordinality as k (account_id, template_id, n)
    join template_secret s
      on s.account_id = k.account_id and s.template_id = k.template_id and s.revealed_at is null
    group by k.n`.execute(kysely);
  return alignByOrdinal(rows, refs.length, ({ names }) => names).map((names) => names ?? '[]');
}

/** Ends the secrecy of fields in all versions that don't declare it themselves. Notifies all nodes at commit. */
export async function revealTemplateSecrets(
  transaction: Database['kysely'],
  { accountId, templateId }: TemplateRef,
  names: readonly string[],
): Promise<void> {
  await sql`
    update template_secret set revealed_at = now()
    where account_id = ${accountId} and template_id = ${templateId} and name = any (${names})`.execute(
    transaction,
  );
  await announceChange(transaction, templateTopic, templateKey(accountId, templateId));
}
