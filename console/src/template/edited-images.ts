import type { TemplateDraftContent, TemplateImage } from '../api/management.generated.ts';
import { slugOf } from '../format/slug.ts';

/** An image in the editor; with its content in base64 if it was added here, and without a hash until that is saved. */
export interface EditedImage extends TemplateImage {
  readonly content?: string;
}

export type DraftImages = TemplateDraftContent['images'];

/** Images for a preview, which needs only their names. */
export function imageNames(images: readonly EditedImage[] | undefined): DraftImages {
  return images?.map(({ contentId }) => ({ contentId }));
}

/** Images to save. @param sendsAll also sends the contents that the draft had when it was last saved */
export function imagesToSave(
  images: readonly EditedImage[] | undefined,
  sendsAll: boolean,
): DraftImages {
  return images?.map(({ contentId, filename, contentType, content, sha256 }) => {
    const image = { contentId, filename, contentType };
    const sends = content !== undefined && (sendsAll || sha256 === '');
    return sends ? { ...image, content } : { ...image, sha256 };
  });
}

/** Saved images with the hashes of the contents that the draft has now, so that these are sent only once. */
export function withHashes(
  images: readonly EditedImage[] | undefined,
  stored: readonly TemplateImage[] = [],
): EditedImage[] | undefined {
  const hashes = new Map(stored.map(({ contentId, sha256 }) => [contentId, sha256]));
  return images?.map((image) => ({
    ...image,
    sha256: hashes.get(image.contentId) ?? image.sha256,
  }));
}

/** The name of a file as a contentId: `Shop logo.png` is `shop-logo`. Another file with the same name gets a number. */
export function contentIdFor(filename: string, images: readonly EditedImage[]): string {
  const replaced = images.find((image) => image.filename === filename);
  if (replaced !== undefined) return replaced.contentId;
  const name = slugOf(filename.replace(/\.\w+$/, '')).slice(0, 90) || 'image';
  const taken = new Set(images.map(({ contentId }) => contentId));
  for (let count = 1; ; count += 1) {
    const contentId = count === 1 ? name : `${name}-${count}`;
    if (!taken.has(contentId)) return contentId;
  }
}
