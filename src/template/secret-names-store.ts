import { sql } from 'kysely';
import type { Database } from '../foundation/database/open-database.ts';
import type { TemplateVersionRef } from './template-store.ts';

/**
 * Names of the secret fields of these versions, in the same order. Unlike the compiled content, they include fields that only
 * the subject line or preview text of a request uses.
 */
export async function readSecretNames(
  kysely: Database['kysely'],
  refs: readonly TemplateVersionRef[],
): Promise<ReadonlySet<string>[]> {
  if (refs.length === 0) return [];
  const { rows } = await sql<{ n: number; name: string }>`
    select k.n::int as n, field.key as name
    from unnest(${refs.map((ref) => ref.accountId)}::text[], ${refs.map((ref) => ref.templateId)}::text[],
      ${refs.map((ref) => ref.version)}::integer[]) with ordinality as k (account_id, template_id, version, n)
    join template_version v
      on v.account_id = k.account_id and v.template_id = k.template_id and v.version = k.version
    cross join lateral jsonb_each(v.source -> 'fields') as field
    where field.value ->> 'secret' = 'true'`.execute(kysely);
  return refs.map(
    (_, index) => new Set(rows.filter(({ n }) => n === index + 1).map(({ name }) => name)),
  );
}
