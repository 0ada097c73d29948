import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import type { TemplateRef, TemplateVersionRef } from './template-store.ts';

/**
 * Names of the secret fields of these versions, in the same order: their own, and those that any published version of the
 * template declared secret. Unlike the compiled content, they include fields that only the subject line or preview text of
 * a request uses.
 */
export async function readSecretNames(
  kysely: Database['kysely'],
  refs: readonly TemplateVersionRef[],
): Promise<ReadonlySet<string>[]> {
  if (refs.length === 0) return [];
  const { rows } = await sql<{ n: number; name: string }>`
    with k as materialized (
      select * from unnest(${refs.map((ref) => ref.accountId)}::text[], ${refs.map((ref) => ref.templateId)}::text[],
        ${refs.map((ref) => ref.version)}::integer[]) with ordinality as k (account_id, template_id, version, n))
    select k.n::int as n, field.key as name
    from k join template_version v
      on v.account_id = k.account_id and v.template_id = k.template_id and v.version = k.version
    cross join lateral jsonb_each(v.source -> 'fields') as field
    where field.value ->> 'secret' = 'true'
    union
    select k.n::int, s.name
    from k join template_secret s on s.account_id = k.account_id and s.template_id = k.template_id`.execute(
    kysely,
  );
  return refs.map(
    (_, index) => new Set(rows.filter(({ n }) => n === index + 1).map(({ name }) => name)),
  );
}

/** Names of the fields that any published version of the template declared secret. */
export async function readTemplateSecrets(
  kysely: Database['kysely'],
  { accountId, templateId }: TemplateRef,
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ name: string }>`
    select name from template_secret where account_id = ${accountId} and template_id = ${templateId}`.execute(
    kysely,
  );
  return new Set(rows.map(({ name }) => name));
}

/** Ends the secrecy of fields in all versions that don't declare it themselves. */
export async function revealTemplateSecrets(
  transaction: Database['kysely'],
  { accountId, templateId }: TemplateRef,
  names: readonly string[],
): Promise<void> {
  await sql`
    delete from template_secret
    where account_id = ${accountId} and template_id = ${templateId} and name = any (${names})`.execute(
    transaction,
  );
}
