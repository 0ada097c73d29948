import { sql } from 'kysely';
import { alignByOrdinal } from '../../base/database/align-by-ordinal.ts';
import type { Kysely } from '../../base/database/open-database.ts';
import { allRows, firstRow, run } from '../../base/database/statements.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { HostedImageRef } from './hosted-image-path.ts';

/** An image that anyone can load. */
export interface HostedImage {
  /** Hex. */
  readonly sha256: string;
  readonly filename: string;
  readonly contentType: string;
  readonly size: number;
  readonly createdAt: Date;
}

/** What the public route needs to know of these images, in the same order; undefined if there is none or it was removed. */
export async function findHostedImages(
  kysely: Kysely,
  refs: readonly HostedImageRef[],
): Promise<(Pick<HostedImage, 'contentType' | 'size'> | undefined)[]> {
  const rows = await allRows<{ n: number; contentType: string; size: number }>(kysely)`
    select k.n::int as n, i.content_type as "contentType", i.size
    from unnest(${refs.map(({ accountId }) => accountId)}::text[], ${refs.map(({ sha256 }) => sha256)}::text[])
      with ordinality as k (account_id, sha256, n)
    join hosted_image i on i.account_id = k.account_id and i.sha256 = decode(k.sha256, 'hex') and i.removed_at is null`;
  return alignByOrdinal(rows, refs.length, ({ contentType, size }) => ({ contentType, size }));
}

/** A row as a page's cursor needs it. */
interface HostedImageRow extends HostedImage {
  /** The creation time as text, with microseconds. */
  readonly at: string;
}

const columns = sql.raw(
  `encode(sha256, 'hex') as sha256, filename, content_type as "contentType", size, created_at as "createdAt", created_at::text as at`,
);

/** The images of an account, newest first. */
export async function readHostedImages(
  kysely: Kysely,
  accountId: AccountId,
  page: {
    readonly before: { readonly at: string; readonly sha256: string } | undefined;
    readonly limit: number;
  },
): Promise<HostedImageRow[]> {
  const { at = null, sha256 = null } = page.before ?? {};
  return await allRows<HostedImageRow>(kysely)`
    select ${columns} from hosted_image
    where account_id = ${accountId} and removed_at is null
      and (${at}::timestamptz is null or (created_at, sha256) < (${at}, decode(${sha256}, 'hex')))
    order by created_at desc, sha256 desc limit ${page.limit}`;
}

/** @returns undefined if there is none or it was removed */
export async function readHostedImage(
  kysely: Kysely,
  { accountId, sha256 }: HostedImageRef,
): Promise<HostedImage | undefined> {
  const row = await firstRow<HostedImageRow>(kysely)`
    select ${columns} from hosted_image
    where account_id = ${accountId} and sha256 = decode(${sha256}, 'hex') and removed_at is null`;
  return row;
}

/** How many images an account has and their bytes, those included that were removed but are still stored. */
export async function readHostedImageUsage(
  kysely: Kysely,
  { accountId, sha256 }: HostedImageRef,
): Promise<{ readonly images: number; readonly bytes: number }> {
  const row = await firstRow<{ images: number; bytes: number }>(kysely)`
    select count(*)::int as images, coalesce(sum(size), 0)::float8 as bytes from hosted_image
    where account_id = ${accountId} and sha256 <> decode(${sha256}, 'hex')`;
  return row ?? { images: 0, bytes: 0 };
}

/** Hosts a content that is stored already; restores an image that was removed. */
export async function saveHostedImage(
  transaction: Kysely,
  { accountId, sha256 }: HostedImageRef,
  { filename, contentType, size }: Omit<HostedImage, 'sha256' | 'createdAt'>,
): Promise<void> {
  await run(transaction)`
    insert into hosted_image (account_id, sha256, filename, content_type, size)
    values (${accountId}, decode(${sha256}, 'hex'), ${filename}, ${contentType}, ${size})
    on conflict (account_id, sha256) do update
    set filename = excluded.filename, removed_at = null,
      created_at = case when hosted_image.removed_at is null then hosted_image.created_at else now() end`;
}

/** Removes an image at once; its content is deleted later (`deleteRemovedImages`). */
export async function removeHostedImage(
  transaction: Kysely,
  { accountId, sha256 }: HostedImageRef,
): Promise<void> {
  await run(transaction)`
    update hosted_image set removed_at = now()
    where account_id = ${accountId} and sha256 = decode(${sha256}, 'hex') and removed_at is null`;
}
