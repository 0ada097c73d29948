import { createHash } from 'node:crypto';
import type { AttachmentContent } from '../message/attachment-store.ts';
import { checkImage } from '../submission/check-image.ts';
import { decodeBase64 } from '../submission/decode-base64.ts';
import { MAX_IMAGE_BYTES } from '../template/template-limits.ts';
import type { TemplateImage } from '../template/template-source.ts';
import type { ManifestPath } from './manifest-path.ts';
import type { RawImage } from './manifest-schema.ts';
import type { BuildContext } from './read-values.ts';

/** Images of a template; `member` is that of its source, which has none if there are no images. */
interface BuiltImages {
  readonly member: { readonly images?: readonly TemplateImage[] };
  readonly contents: readonly AttachmentContent[];
}

/** Builds the images of a template from their entries and files. Those of a draft are checked and stored already. */
export async function buildImages(
  raw: readonly RawImage[],
  path: ManifestPath,
  context: BuildContext,
): Promise<BuiltImages> {
  const images: TemplateImage[] = [];
  const contents: AttachmentContent[] = [];
  for (const [index, image] of raw.entries()) {
    if ('sha256' in image) {
      images.push(image);
      continue;
    }
    const at = [...path, index];
    const found = await readContent(image.content, at, context);
    if (found === undefined) continue;
    const { sha256, content } = found;
    const report = (member: string, reason: string) =>
      context.problems.add([...at, member], reason);
    const given = { ...image, size: content.length, sha256, start: content };
    images.push(checkImage(given, report));
    contents.push(found);
  }
  const problem = findImageProblem(images);
  if (problem?.index !== undefined)
    context.problems.add([...path, problem.index, 'contentId'], problem.reason);
  else if (problem !== undefined) context.problems.add(path, problem.reason);
  return { member: images.length === 0 ? {} : { images }, contents };
}

/** The first problem of images together; without an index, it is one of the whole list. */
export function findImageProblem(
  images: readonly Pick<TemplateImage, 'contentId' | 'size'>[],
): { readonly index?: number; readonly reason: string } | undefined {
  const ids = images.map(({ contentId }) => contentId);
  const index = ids.findIndex((id, at) => ids.indexOf(id) < at);
  if (index !== -1) return { index, reason: 'is used by another image' };
  const bytes = images.reduce((sum, { size }) => sum + size, 0);
  if (bytes <= MAX_IMAGE_BYTES) return undefined;
  return {
    reason: `must not be larger than ${MAX_IMAGE_BYTES} bytes together; use smaller images`,
  };
}

async function readContent(
  value: string | { readonly file: string },
  at: ManifestPath,
  { files, problems }: BuildContext,
): Promise<AttachmentContent | undefined> {
  const path = [...at, 'content'];
  if (typeof value === 'string') {
    const decoded = await decodeBase64(value);
    if (decoded === undefined)
      problems.add(path, 'is not base64 (RFC 4648, with padding and without line breaks)');
    return decoded;
  }
  const content = await files.bytes(value.file, MAX_IMAGE_BYTES);
  if ('reason' in content) {
    problems.add(path, `${value.file} ${content.reason}`);
    return undefined;
  }
  return { content, sha256: createHash('sha256').update(content).digest('hex') };
}
