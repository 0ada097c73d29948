import { sql } from 'kysely';
import type { Role } from '../../accounts/account/account.ts';
import { readEmails } from '../../accounts/account/person-store.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows } from '../../base/database/statements.ts';
import type { AccountId, PersonId } from '../../base/values/ids.ts';
import type { TemplateSource } from '../../content/template/template-source.ts';
import { emailOf, type WhenUncertain } from '../../content/template/template-store.ts';
import { sourceWithVariants } from '../../content/template/variant-store.ts';

/** The IDs of all accounts, in order. */
export async function readAccountIds(kysely: Kysely): Promise<AccountId[]> {
  const rows = await kysely
    .selectFrom('account')
    .select('id')
    .where('system', '=', false)
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id as AccountId);
}

interface ExportedUser {
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly operator: boolean;
}

/** The users of an account, in manifest form. */
export async function readUsers(kysely: Kysely, accountId: AccountId): Promise<ExportedUser[]> {
  return await allRows<ExportedUser>(kysely)`
    select p.email, p.name, m.role, p.operator from membership m join person p on p.id = m.person_id
    where m.account_id = ${accountId} order by m.created_at, p.email`;
}

/** A published template, in manifest form. */
export interface PublishedContent {
  readonly id: string;
  readonly name: string;
  readonly createdBy: string;
  readonly senderAddress: string | null;
  readonly freshnessSeconds: number;
  readonly whenUncertain: WhenUncertain;
  readonly source: TemplateSource;
}

/** The published templates of an account, without deleted ones. */
export async function readPublishedContents(
  kysely: Kysely,
  accountId: AccountId,
): Promise<PublishedContent[]> {
  const rows = await allRows<Omit<PublishedContent, 'createdBy'> & { created_by: PersonId | null }>(
    kysely,
  )`
    select t.id, t.name, t.created_by, v.sender_address as "senderAddress",
      v.freshness_seconds as "freshnessSeconds", t.when_uncertain as "whenUncertain", ${sql.raw(sourceWithVariants('v'))} as source
    from template t
    join template_version v
      on v.account_id = ${accountId} and v.template_id = t.id and v.version = t.published_version
    where t.account_id = ${accountId} and t.removed_at is null and t.created_by is not null order by t.id`;
  const emails = await readEmails(
    kysely,
    rows.map((row) => row.created_by),
  );
  return rows.map(({ created_by, ...content }) => ({
    ...content,
    createdBy: emailOf(emails, created_by),
  }));
}

/** The content of an image of a template. @param sha256 hex */
export async function readContentBytes(
  kysely: Kysely,
  accountId: AccountId,
  sha256: string,
): Promise<Buffer> {
  const { content } = await kysely
    .selectFrom('attachment_content')
    .select('content')
    .where('account_id', '=', accountId)
    .where('sha256', '=', Buffer.from(sha256, 'hex'))
    .executeTakeFirstOrThrow();
  return content;
}

/** The IDs of unpublished templates, which a manifest can't contain. */
export async function readUnpublishedTemplates(
  kysely: Kysely,
  accountId: AccountId,
): Promise<string[]> {
  const rows = await kysely
    .selectFrom('template')
    .select('id')
    .where('account_id', '=', accountId)
    .where('removed_at', 'is', null)
    .where('published_version', 'is', null)
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}
