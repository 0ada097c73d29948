import { systemAccountId } from '../../accounts/notices/system-mail.ts';
import { lockForTransaction } from '../../base/database/advisory-locks.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { firstRow } from '../../base/database/statements.ts';
import type { TemplateId } from '../../base/values/ids.ts';
import type { TemplateSource } from '../../content/template/template-source.ts';

/** Serializes transactions that publish system templates. */
export async function lockSystemTemplates(transaction: Kysely): Promise<void> {
  await lockForTransaction(transaction, 'systemTemplates');
}

/** The source of the published version of a system template, and its hash; undefined if there is none. */
export async function readPublishedSource(
  kysely: Kysely,
  templateId: TemplateId,
): Promise<{ readonly source: TemplateSource; readonly hash: Buffer } | undefined> {
  const row = await firstRow<{ source: TemplateSource; hash: Buffer }>(kysely)`
    select v.source, v.content_hash as hash from template t
    join template_version v
      on v.account_id = t.account_id and v.template_id = t.id and v.version = t.published_version
    where t.account_id = ${systemAccountId} and t.id = ${templateId} and t.removed_at is null`;
  return row;
}
