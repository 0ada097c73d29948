import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import type { AttachmentContent } from '../../../content/message/attachment-store.ts';
import { findImageContents } from '../../../content/template/template-image-store.ts';
import type { TemplateImage } from '../../../content/template/template-source.ts';
import { checkImage, type GivenImage } from '../../../sending/submission/check-image.ts';
import { decodeBase64 } from '../../../sending/submission/decode-base64.ts';
import { findImageProblem } from '../../manifest/build-template.ts';
import { invalidField } from '../answer/problem.ts';
import type { OperationCall } from '../operation.ts';
import type { DraftContent } from './template-views.ts';

type DraftImages = NonNullable<DraftContent['images']>;

/** Checked images by their place in the list. */
type PlacedImages = ReadonlyMap<number, TemplateImage>;

/**
 * Stores the contents that a request brings; a transaction must use them within half an hour.
 * @returns the images that have them
 * @throws Problem for the first that isn't an image, or if they are too large
 */
export async function storeUploads(call: OperationCall, given: DraftImages): Promise<PlacedImages> {
  const uploads = new Map<number, TemplateImage>();
  const contents: AttachmentContent[] = [];
  for (const [index, { content: base64, ...image }] of given.entries()) {
    if (base64 === undefined) continue;
    const field = `images[${index}]`;
    if (image.sha256 !== undefined)
      throw invalidField(`${field}.sha256`, 'can’t be combined with content');
    const decoded = await decodeBase64(base64);
    if (decoded === undefined)
      throw invalidField(
        `${field}.content`,
        'is not base64 (RFC 4648, with padding and without line breaks)',
      );
    const { content, sha256 } = decoded;
    const read = { ...image, sha256, size: content.length, start: content };
    uploads.set(index, requireImage(field, read));
    contents.push(decoded);
  }
  requireTogether(
    given.map(({ contentId }, index) => uploads.get(index) ?? { contentId, size: 0 }),
  );
  if (contents.length > 0)
    await call.dependencies.attachments.save(call.params.accountId, contents);
  return uploads;
}

/**
 * Completes the images of a draft: uploads, and those that the draft or a version of the template has already. A hash alone
 * doesn't open other contents of the account, such as attachments of messages.
 * @throws Problem for the first that is unknown or doesn't fit
 */
export async function resolveImages(
  call: OperationCall,
  transaction: DatabaseTransaction,
  given: DraftImages,
  uploads: PlacedImages,
): Promise<TemplateImage[]> {
  const hashes = given.flatMap(({ sha256 }) => sha256 ?? []);
  const owner = { accountId: call.params.accountId, templateId: call.params.templateId };
  const stored = hashes.length === 0 ? [] : await findImageContents(transaction, owner, hashes);
  const images = given.map((image, index) => {
    const upload = uploads.get(index);
    if (upload !== undefined) return upload;
    const field = `images[${index}]`;
    if (image.sha256 === undefined) throw invalidField(`${field}.content`, 'is required');
    const found = stored.find(({ sha256 }) => sha256 === image.sha256);
    if (found === undefined)
      throw invalidField(`${field}.sha256`, 'is not an image of this template; send its content');
    return requireImage(field, { ...image, ...found });
  });
  requireTogether(images);
  return images;
}

/** @throws Problem */
function requireImage(field: string, given: GivenImage): TemplateImage {
  return checkImage(given, (member, reason) => {
    throw invalidField(`${field}.${member}`, reason);
  });
}

/** @throws Problem */
function requireTogether(images: Parameters<typeof findImageProblem>[0]): void {
  const problem = findImageProblem(images);
  if (problem === undefined) return;
  const { index, reason } = problem;
  throw invalidField(index === undefined ? 'images' : `images[${index}].contentId`, reason);
}
