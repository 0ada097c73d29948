import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, run } from '../../base/database/statements.ts';
import type { TemplateImage, TemplateRef } from './template-source.ts';

/** The draft's number among the versions of `template_image`. */
const draftNumber = 0;

/** Keeps the contents of a version's images, which are stored already, for as long as the version exists. */
export async function linkImages(
  transaction: Kysely,
  { accountId, templateId }: TemplateRef,
  version: number,
  images: readonly TemplateImage[] = [],
): Promise<void> {
  if (images.length === 0) return;
  const hashes = images.map(({ sha256 }) => sha256);
  await run(transaction)`
    insert into template_image (account_id, template_id, version, sha256)
    select distinct ${accountId}, ${templateId}, ${version}::int, decode(hash, 'hex')
    from unnest(${hashes}::text[]) hash`;
}

/** Keeps the contents of a draft's images instead of those that it had before. */
export async function linkDraftImages(
  transaction: Kysely,
  owner: TemplateRef,
  images: readonly TemplateImage[] = [],
): Promise<void> {
  await run(transaction)`
    delete from template_image
    where account_id = ${owner.accountId} and template_id = ${owner.templateId} and version = ${draftNumber}`;
  await linkImages(transaction, owner, draftNumber, images);
}

/** A content that the draft or a version of a template uses. */
interface StoredImageContent {
  readonly sha256: string;
  readonly size: number;
  /** Enough of it to tell its type. */
  readonly start: Buffer;
}

/**
 * Those of the contents that the draft or a version of the template uses.
 * @param hashes hex
 * @param version only those of this version
 */
export async function findImageContents(
  kysely: Kysely,
  { accountId, templateId }: TemplateRef,
  hashes: readonly string[],
  version?: number,
): Promise<readonly StoredImageContent[]> {
  return await allRows<StoredImageContent>(kysely)`
    select encode(c.sha256, 'hex') as sha256, octet_length(c.content) as size, substring(c.content for 1024) as start
    from attachment_content c
    where c.account_id = ${accountId}
      and c.sha256 in (select decode(hash, 'hex') from unnest(${hashes}::text[]) hash)
      and exists (
        select from template_image i
        where i.account_id = ${accountId} and i.template_id = ${templateId} and i.sha256 = c.sha256
          and (${version ?? null}::int is null or i.version = ${version ?? null}))`;
}
