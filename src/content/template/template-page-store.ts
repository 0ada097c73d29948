import { sql } from 'kysely';
import { readEmails } from '../../accounts/account/person-store.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow, run } from '../../base/database/statements.ts';
import type { AccountId, PersonId, TemplateId } from '../../base/values/ids.ts';
import type { CompiledTemplate } from './compiled-template.ts';
import { linkDraftImages } from './template-image-store.ts';
import type { TemplateImage, TemplateSource } from './template-source.ts';
import { emailOf } from './template-store.ts';
import { sourceWithVariants, variantLocales } from './variant-store.ts';

/** A template, as listed. */
export interface TemplateFacts {
  readonly id: TemplateId;
  readonly name: string;
  readonly createdBy: string;
  readonly publishedVersion: number | null;
  readonly latestVersion: number;
  readonly hasDraft: boolean;
  readonly subject: string | null;
  readonly whenUncertain: 'resend' | 'hold';
  readonly changedAt: Date;
}

/** Templates of an account, ordered by id, or the one with the given id; without deleted ones. */
export async function readTemplateFacts(
  kysely: Kysely,
  accountId: AccountId,
  filter: {
    readonly id?: TemplateId;
    readonly contains?: string | undefined;
    readonly after?: string;
    readonly limit?: number;
  },
): Promise<TemplateFacts[]> {
  const { id = null, contains = null, after = '', limit = 1 } = filter;
  const rows = await allRows<Omit<TemplateFacts, 'createdBy'> & { created_by: PersonId | null }>(
    kysely,
  )`
    select t.id, t.name, t.created_by, t.published_version as "publishedVersion",
      coalesce(l.version, 0) as "latestVersion", d.template_id is not null as "hasDraft",
      coalesce(v.source ->> 'subject', d.content ->> 'subject') as subject, t.when_uncertain as "whenUncertain",
      greatest(t.created_at, l.created_at, d.changed_at) as "changedAt"
    from template t
    left join template_version v
      on v.account_id = ${accountId} and v.template_id = t.id and v.version = t.published_version
    left join template_draft d on d.account_id = ${accountId} and d.template_id = t.id
    left join lateral (
      select version, created_at from template_version
      where account_id = ${accountId} and template_id = t.id and not trial order by version desc limit 1) l on true
    where t.account_id = ${accountId} and t.removed_at is null and t.created_by is not null and t.id > ${after}
      and (${id}::text is null or t.id = ${id})
      and (${contains}::text is null
        or position(lower(${contains}) in lower(t.name)) > 0 or position(lower(${contains}) in lower(t.id)) > 0)
    order by t.id limit ${limit}`;
  const emails = await readEmails(
    kysely,
    rows.map((row) => row.created_by),
  );
  return rows.map(({ created_by, ...facts }) => ({
    ...facts,
    createdBy: emailOf(emails, created_by),
  }));
}

/** Who created a template, also one that was removed. */
export async function readCreator(
  kysely: Kysely,
  accountId: AccountId,
  id: TemplateId,
): Promise<PersonId | undefined> {
  const row = await firstRow<{ createdBy: PersonId | null }>(kysely)`
    select created_by as "createdBy" from template where account_id = ${accountId} and id = ${id}`;
  return row?.createdBy ?? undefined;
}

/** A version of a template with its source. */
interface VersionRow {
  readonly version: number;
  readonly senderAddress: string | null;
  readonly freshnessSeconds: number;
  readonly createdAt: Date;
  readonly published: boolean;
  /** Created for test messages of a draft. */
  readonly trial: boolean;
  readonly source: TemplateSource;
  readonly compiled: CompiledTemplate;
}

/** A version, as listed. */
interface VersionFacts extends Omit<VersionRow, 'trial' | 'source' | 'compiled'> {
  readonly subject: string;
  /** Of its variants. */
  readonly locales: string[];
}

/** Versions of a template before the given one, newest first, without content and trial versions. */
export async function readVersionFacts(
  kysely: Kysely,
  accountId: AccountId,
  templateId: TemplateId,
  page: { readonly before: number | undefined; readonly limit: number },
): Promise<VersionFacts[]> {
  return await allRows<VersionFacts>(kysely)`
    select v.version, v.sender_address as "senderAddress", v.freshness_seconds as "freshnessSeconds",
      v.created_at as "createdAt", v.version = t.published_version as published, v.source ->> 'subject' as subject,
      ${sql.raw(variantLocales('v'))} as locales
    from template_version v
    join template t on t.account_id = ${accountId} and t.id = v.template_id
    where v.account_id = ${accountId} and v.template_id = ${templateId} and not v.trial
      and (${page.before ?? null}::int is null or v.version < ${page.before ?? null})
    order by v.version desc limit ${page.limit}`;
}

/** A version of a template that isn't deleted. */
export async function readTemplateVersion(
  kysely: Kysely,
  accountId: AccountId,
  templateId: TemplateId,
  version: number | 'published',
): Promise<VersionRow | undefined> {
  const number = version === 'published' ? null : version;
  const row = await firstRow<VersionRow>(kysely)`
    select v.version, v.sender_address as "senderAddress", v.freshness_seconds as "freshnessSeconds",
      v.created_at as "createdAt", v.version is not distinct from t.published_version as published, v.trial,
      ${sql.raw(sourceWithVariants('v'))} as source, v.compiled
    from template_version v
    join template t on t.account_id = ${accountId} and t.id = v.template_id and t.removed_at is null
    where v.account_id = ${accountId} and v.template_id = ${templateId}
      and v.version = coalesce(${number}::int, t.published_version)`;
  return row;
}

/** A saved draft. */
interface DraftRow {
  readonly content: unknown;
  readonly changedAt: Date;
}

/** The draft of a template that isn't deleted. A deleted one keeps its draft until it is restored. */
export async function readDraft(
  kysely: Kysely,
  accountId: AccountId,
  templateId: TemplateId,
): Promise<DraftRow | undefined> {
  const row = await firstRow<DraftRow>(kysely)`
    select d.content, d.changed_at as "changedAt"
    from template_draft d
    join template t on t.account_id = ${accountId} and t.id = d.template_id and t.removed_at is null
    where d.account_id = ${accountId} and d.template_id = ${templateId}`;
  return row;
}

export async function saveDraft(
  transaction: Kysely,
  draft: {
    readonly accountId: AccountId;
    readonly templateId: TemplateId;
    readonly content: { readonly images?: readonly TemplateImage[] };
    readonly personId: PersonId | undefined;
  },
): Promise<void> {
  const content = JSON.stringify(draft.content);
  await run(transaction)`
    insert into template_draft (account_id, template_id, content, changed_by, changed_at)
    values (${draft.accountId}, ${draft.templateId}, ${content}::jsonb, ${draft.personId ?? null}, now())
    on conflict (account_id, template_id) do update
    set content = excluded.content, changed_by = excluded.changed_by, changed_at = excluded.changed_at
    where template_draft.content is distinct from excluded.content`;
  await linkDraftImages(transaction, draft, draft.content.images);
}

export async function removeDraft(
  transaction: Kysely,
  accountId: AccountId,
  templateId: TemplateId,
): Promise<void> {
  await run(transaction)`
    delete from template_draft where account_id = ${accountId} and template_id = ${templateId}`;
  await linkDraftImages(transaction, { accountId, templateId });
}
