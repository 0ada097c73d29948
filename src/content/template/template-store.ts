import { sql } from 'kysely';
import { readEmails } from '../../accounts/account/person-store.ts';
import { alignByOrdinal } from '../../base/database/align-by-ordinal.ts';
import { announceChange } from '../../base/database/announce.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow, run } from '../../base/database/statements.ts';
import type { AccountId, PersonId, TemplateId } from '../../base/values/ids.ts';
import type { CompiledTemplate, CompiledVersion } from './compiled-template.ts';
import { withImpliedSecrets } from './guarded-field.ts';
import { linkImages } from './template-image-store.ts';
import type { TemplateRef, TemplateSource, TemplateVersionRef } from './template-source.ts';
import { writeVariants } from './variant-store.ts';

/**
 * For each template, in order: the names of fields that a published version declared secret and no owner has revealed,
 * as the text of a sorted JSON array.
 */
export async function readKeptSecrets(
  kysely: Kysely,
  refs: readonly TemplateRef[],
): Promise<string[]> {
  const rows = await allRows<{ n: number; names: string }>(kysely)`
    select k.n::int as n, json_agg(s.name order by s.name)::text as names
    from unnest(${accountsOf(refs)}::text[], ${templatesOf(refs)}::text[])
      with ordinality as k (account_id, template_id, n)
    join template_secret s
      on s.account_id = k.account_id and s.template_id = k.template_id and s.revealed_at is null
    group by k.n`;
  return alignByOrdinal(rows, refs.length, ({ names }) => names).map((names) => names ?? '[]');
}

/** Reveals fields in all versions that don't declare them secret themselves. Notifies all nodes at commit. */
export async function revealTemplateSecrets(
  transaction: Kysely,
  { accountId, templateId }: TemplateRef,
  names: readonly string[],
): Promise<void> {
  await run(transaction)`
    update template_secret set revealed_at = now()
    where account_id = ${accountId} and template_id = ${templateId} and name = any (${names})`;
  await announceChange(transaction, templateTopic, templateKey(accountId, templateId));
}

/** Notification topic for templates; the key is `templateKey`. */
export const templateTopic = 'template';

/** Identifies a template in notifications; IDs contain no `/`. */
export function templateKey(accountId: AccountId, templateId: TemplateId): string {
  return `${accountId}/${templateId}`;
}

/** A template's published version, without its compiled content. */
export interface PublishedRow {
  readonly version: number;
  readonly senderAddress: string | null;
  readonly createdByEmail: string;
  readonly freshnessSeconds: number;
}

/** The published versions of these templates, in the same order; undefined for a removed template. */
export async function readPublished(
  kysely: Kysely,
  refs: readonly TemplateRef[],
): Promise<(PublishedRow | undefined)[]> {
  const rows = await allRows<
    Omit<PublishedRow, 'createdByEmail'> & { n: number; createdBy: PersonId | null }
  >(kysely)`
    select k.n::int as n, v.version, v.sender_address as "senderAddress", t.created_by as "createdBy",
      v.freshness_seconds as "freshnessSeconds"
    from unnest(${accountsOf(refs)}::text[], ${templatesOf(refs)}::text[])
      with ordinality as k (account_id, template_id, n)
    join template t on t.account_id = k.account_id and t.id = k.template_id and t.removed_at is null
    join template_version v
      on v.account_id = t.account_id and v.template_id = t.id and v.version = t.published_version`;
  const emails = await readEmails(
    kysely,
    rows.map((row) => row.createdBy),
  );
  return alignByOrdinal(rows, refs.length, ({ n: _, createdBy, ...row }) => ({
    ...row,
    createdByEmail: emailOf(emails, createdBy),
  }));
}

/** The address of the person who created a template; empty for a template of the service. */
export function emailOf(emails: ReadonlyMap<PersonId, string>, createdBy: PersonId | null): string {
  return createdBy === null ? '' : (emails.get(createdBy) ?? '');
}

/** A version's compiled content; `size` is its length as JSON text. */
export interface CompiledRow {
  readonly compiled: CompiledTemplate;
  /** Names of the fields that the version declares secret, used or not. */
  readonly secretNames: readonly string[];
  readonly size: number;
}

/** The compiled content of these versions, in the same order, including those of removed templates. */
export async function readCompiled(
  kysely: Kysely,
  refs: readonly TemplateVersionRef[],
): Promise<(CompiledRow | undefined)[]> {
  const rows = await allRows<{ n: number; compiled: string; secret_names: string[] }>(kysely)`
    select k.n::int as n, v.compiled::text as compiled,
      array(select f.key from jsonb_each(v.source -> 'fields') as f where f.value ->> 'secret' = 'true') as secret_names
    from unnest(${accountsOf(refs)}::text[], ${templatesOf(refs)}::text[], ${refs.map((ref) => ref.version)}::integer[])
      with ordinality as k (account_id, template_id, version, n)
    join template_version v
      on v.account_id = k.account_id and v.template_id = k.template_id and v.version = k.version`;
  return alignByOrdinal(rows, refs.length, ({ compiled, secret_names }) => ({
    compiled: JSON.parse(compiled) as CompiledTemplate,
    secretNames: secret_names,
    size: compiled.length,
  }));
}

function accountsOf(refs: readonly TemplateRef[]): AccountId[] {
  return refs.map((ref) => ref.accountId);
}

function templatesOf(refs: readonly TemplateRef[]): TemplateId[] {
  return refs.map((ref) => ref.templateId);
}

/** What to do with a message that the receiving server may already have: resend it, or hold it for review. */
export type WhenUncertain = 'resend' | 'hold';

/** A template in the manifest: its settings and the content hash of its published version. */
export interface TemplateRow {
  readonly id: TemplateId;
  readonly name: string;
  readonly createdBy: PersonId;
  readonly removed: boolean;
  readonly whenUncertain: WhenUncertain;
  /** Of the published version; null if there is none. */
  readonly contentHash: Buffer | null;
  /** The highest version; 0 if there is none. */
  readonly latestVersion: number;
}

/** The templates of an account, including removed ones, ordered by ID. */
export async function readTemplates(kysely: Kysely, accountId: AccountId): Promise<TemplateRow[]> {
  return await allRows<TemplateRow>(kysely)`
    select t.id, t.name, t.created_by as "createdBy", t.removed_at is not null as removed,
      t.when_uncertain as "whenUncertain", v.content_hash as "contentHash",
      (select greatest(max(l.version), 0) from template_version l
       where l.account_id = ${accountId} and l.template_id = t.id) as "latestVersion"
    from template t
    left join template_version v
      on v.account_id = ${accountId} and v.template_id = t.id and v.version = t.published_version
    where t.account_id = ${accountId}
    order by t.id`;
}

/** Creates or updates a template's settings and restores it if it was removed. Notifies all nodes at commit. */
export async function saveTemplate(
  transaction: Kysely,
  template: {
    readonly accountId: AccountId;
    readonly id: TemplateId;
    readonly name: string;
    /** Undefined for the service's own templates. */
    readonly createdBy: PersonId | undefined;
    readonly whenUncertain?: WhenUncertain | undefined;
  },
): Promise<void> {
  const { accountId, id, name, createdBy, whenUncertain } = template;
  await run(transaction)`
    insert into template as t (account_id, id, name, created_by, when_uncertain)
    values (${accountId}, ${id}, ${name}, ${createdBy ?? null}, ${whenUncertain ?? sql`default`})
    on conflict (account_id, id) do update
    set name = excluded.name, created_by = excluded.created_by, removed_at = null,
      when_uncertain = coalesce(${whenUncertain ?? null}, t.when_uncertain)`;
  await announceChange(transaction, templateTopic, templateKey(accountId, id));
}

/** A new version; versions never change once written. */
interface NewTemplateVersion extends TemplateRef {
  readonly contentHash: Buffer;
  readonly senderAddress: string | undefined;
  readonly freshnessSeconds: number;
  readonly source: TemplateSource;
  readonly compiled: CompiledVersion;
}

/**
 * Writes and publishes the next version of a template. Notifies all nodes at commit.
 * @returns its number
 */
export async function publishVersion(
  transaction: Kysely,
  version: NewTemplateVersion,
): Promise<number> {
  const number = await writeVersion(transaction, version);
  await setPublishedVersion(transaction, version, number);
  return number;
}

/** Publishes a version, even an earlier one. Notifies all nodes at commit. */
export async function setPublishedVersion(
  transaction: Kysely,
  { accountId, templateId }: TemplateRef,
  version: number,
): Promise<void> {
  await run(transaction)`
    update template set published_version = ${version}
    where account_id = ${accountId} and id = ${templateId}`;
  await announceChange(transaction, templateTopic, templateKey(accountId, templateId));
}

/**
 * Finds the newest version with exactly this content. A hidden one is kept as long as a message sent now.
 * @returns its number; undefined if there is none
 */
export async function keepVersionWithContent(
  transaction: Kysely,
  { accountId, templateId }: TemplateRef,
  contentHash: Buffer,
  retentionDays: number,
): Promise<number | undefined> {
  // Locked, so that it isn't deleted before the message is stored.
  const found = await firstRow<{ version: number }>(transaction)`
    select version from template_version
    where account_id = ${accountId} and template_id = ${templateId} and content_hash = ${contentHash}
    order by version desc limit 1 for update`;
  if (found !== undefined)
    await keepTrialVersion(transaction, { accountId, templateId, ...found }, retentionDays);
  return found?.version;
}

/** Keeps a hidden version as long as a message sent now; other versions are always kept. */
export async function keepTrialVersion(
  transaction: Kysely,
  { accountId, templateId, version }: TemplateVersionRef,
  retentionDays: number,
): Promise<void> {
  if (version > 0) return;
  await run(transaction)`
    update template_version set keep_until = ${keptFor(retentionDays)}
    where account_id = ${accountId} and template_id = ${templateId} and version = ${version} and trial`;
}

/** Kept longer than messages, which are deleted weekly. */
function keptFor(retentionDays: number) {
  return sql`now() + ${retentionDays + 30} * interval '1 day'`;
}

/**
 * Writes the next version of a template.
 * @param trialDays for the content of a draft, as a hidden version for test messages: how long its messages are kept. These
 * versions are numbered downwards from -1 and deleted once their messages are gone.
 * @returns its number
 */
export async function writeVersion(
  transaction: Kysely,
  version: NewTemplateVersion,
  trialDays?: number,
): Promise<number> {
  const { accountId, templateId } = version;
  const { variants: sources = {}, fields, ...rest } = version.source;
  // Statements find secret fields by their declaration.
  const source = fields === undefined ? rest : { ...rest, fields: withImpliedSecrets(fields) };
  const { variants = {}, ...compiled } = version.compiled;
  const isTrial = trialDays !== undefined;
  const next = isTrial ? sql`least(min(version), 0) - 1` : sql`greatest(max(version), 0) + 1`;
  const rows = await allRows<{ version: number }>(transaction)`
    insert into template_version
      (account_id, template_id, version, content_hash, sender_address, freshness_seconds, source, compiled, trial, keep_until)
    select ${accountId}, ${templateId}, ${next}, ${version.contentHash},
      ${version.senderAddress ?? null}, ${version.freshnessSeconds},
      ${JSON.stringify(source)}::jsonb, ${JSON.stringify(compiled)}::jsonb, ${isTrial}::boolean,
      ${isTrial ? keptFor(trialDays) : null}
    from template_version where account_id = ${accountId} and template_id = ${templateId}
    returning version`;
  const number = rows[0]?.version ?? 1;
  await linkImages(transaction, version, number, version.source.images);
  if (compiled.locales !== undefined)
    await writeVariants(transaction, { accountId, templateId, version: number }, sources, variants);
  return number;
}

/** Removes a template; its versions stay for messages accepted with them. Notifies all nodes at commit. */
export async function removeTemplate(
  transaction: Kysely,
  accountId: AccountId,
  templateId: TemplateId,
): Promise<void> {
  await run(transaction)`
    update template set removed_at = ${new Date()} where account_id = ${accountId} and id = ${templateId}`;
  await announceChange(transaction, templateTopic, templateKey(accountId, templateId));
}
