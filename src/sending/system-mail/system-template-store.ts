import { sql } from 'kysely';
import { systemAccountId } from '../../accounts/notices/system-mail.ts';
import { lockForTransaction } from '../../base/database/advisory-locks.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { TemplateId } from '../../base/values/ids.ts';
import type { TemplateSource } from '../../content/template/template-source.ts';

type Kysely = Database['kysely'];

/** Serializes transactions that publish system templates. */
export async function lockSystemTemplates(transaction: Kysely): Promise<void> {
  await lockForTransaction(transaction, 'systemTemplates');
}

/** The hash of the published version of a system template; undefined if there is none. */
export async function readPublishedHash(
  kysely: Kysely,
  templateId: TemplateId,
): Promise<Buffer | undefined> {
  const { rows } = await sql<{ content_hash: Buffer }>`
    select v.content_hash from template t
    join template_version v
      on v.account_id = t.account_id and v.template_id = t.id and v.version = t.published_version
    where t.account_id = ${systemAccountId} and t.id = ${templateId} and t.removed_at is null`.execute(
    kysely,
  );
  return rows[0]?.content_hash;
}

/** The source of the published version of a system template; undefined if there is none. */
export async function readPublishedSource(
  kysely: Kysely,
  templateId: TemplateId,
): Promise<TemplateSource | undefined> {
  const { rows } = await sql<{ source: TemplateSource }>`
    select v.source from template t
    join template_version v
      on v.account_id = t.account_id and v.template_id = t.id and v.version = t.published_version
    where t.account_id = ${systemAccountId} and t.id = ${templateId} and t.removed_at is null`.execute(
    kysely,
  );
  return rows[0]?.source;
}
