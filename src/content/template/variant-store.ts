import { alignByOrdinal } from '../../base/database/align-by-ordinal.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, run } from '../../base/database/statements.ts';
import type { CompiledVariant } from './compiled-template.ts';
import type { TemplateVersionRef, VariantSource } from './template-source.ts';

/** Identifies a variant of a version. */
export interface VariantRef extends TemplateVersionRef {
  readonly locale: string;
}

/** A variant's compiled content; `size` is its length as JSON text. */
export interface VariantRow {
  readonly compiled: CompiledVariant;
  readonly size: number;
}

/** Writes the variants of a new version, in the same transaction. */
export async function writeVariants(
  transaction: Kysely,
  { accountId, templateId, version }: TemplateVersionRef,
  sources: Readonly<Record<string, VariantSource>>,
  compiled: Readonly<Record<string, CompiledVariant>>,
): Promise<void> {
  const locales = Object.keys(compiled).sort();
  await run(transaction)`
    insert into template_variant (account_id, template_id, version, locale, source, compiled)
    select ${accountId}, ${templateId}, ${version}, v.locale, v.source::jsonb, v.compiled::jsonb
    from unnest(${locales}::text[], ${locales.map((locale) => JSON.stringify(sources[locale]))}::text[],
      ${locales.map((locale) => JSON.stringify(compiled[locale]))}::text[]) as v (locale, source, compiled)`;
}

/** The compiled content of these variants, in the same order. */
export async function readCompiledVariants(
  kysely: Kysely,
  refs: readonly VariantRef[],
): Promise<(VariantRow | undefined)[]> {
  const rows = await allRows<{ n: number; compiled: string }>(kysely)`
    select k.n::int as n, v.compiled::text as compiled
    from unnest(${refs.map((ref) => ref.accountId)}::text[], ${refs.map((ref) => ref.templateId)}::text[],
      ${refs.map((ref) => ref.version)}::integer[], ${refs.map((ref) => ref.locale)}::text[])
      with ordinality as k (account_id, template_id, version, locale, n)
    join template_variant v on v.account_id = k.account_id and v.template_id = k.template_id
      and v.version = k.version and v.locale = k.locale`;
  return alignByOrdinal(rows, refs.length, ({ compiled }) => ({
    compiled: JSON.parse(compiled) as CompiledVariant,
    size: compiled.length,
  }));
}

/** SQL for the source of a version together with its variants. @param version alias of the version */
export function sourceWithVariants(version: string): string {
  return `(select case when count(w.locale) = 0 then ${version}.source
      else ${version}.source || jsonb_build_object('variants', jsonb_object_agg(w.locale, w.source)
        filter (where w.locale is not null)) end
    from template_variant w
    where w.account_id = ${version}.account_id and w.template_id = ${version}.template_id
      and w.version = ${version}.version)`;
}

/** SQL for the locales of a version's variants, in order. @param version alias of the version */
export function variantLocales(version: string): string {
  return `array(select w.locale from template_variant w
    where w.account_id = ${version}.account_id and w.template_id = ${version}.template_id
      and w.version = ${version}.version order by w.locale)`;
}
