import { type QueryClient, useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '../api/management.ts';
import type { DraftImages, EditedImage } from './edited-images.ts';

const noImages: readonly EditedImage[] = [];

/** What has the images: a template, or a message with those of its version. */
type ImageOwner = { readonly accountId: string } & (
  | { readonly templateId: string }
  | { readonly messageId: string }
);

/** The content of a stored image in base64. */
function contentQuery(owner: ImageOwner, sha256: string) {
  return {
    queryKey: ['template-image', owner, sha256],
    queryFn: async () => toBase64(await readImage(owner, sha256)),
    staleTime: Number.POSITIVE_INFINITY,
  };
}

function readImage(owner: ImageOwner, sha256: string) {
  return 'messageId' in owner
    ? api.getBlob('/accounts/{accountId}/messages/{messageId}/images/{sha256}', {
        ...owner,
        sha256,
      })
    : api.getBlob('/accounts/{accountId}/templates/{templateId}/images/{sha256}', {
        ...owner,
        sha256,
      });
}

/** The images of a draft with their contents, to restore them after it is discarded. */
export async function loadImages(
  client: QueryClient,
  owner: ImageOwner,
  images: readonly EditedImage[] = noImages,
): Promise<DraftImages> {
  const loaded: NonNullable<DraftImages> = [];
  for (const { contentId, filename, contentType, sha256, content } of images) {
    const base64 = content ?? (await client.fetchQuery(contentQuery(owner, sha256)));
    loaded.push({ contentId, filename, contentType, content: base64 });
  }
  return loaded;
}

/** The images by contentId as data URLs, which the frame of an email may show. */
export function useImageUrls(
  owner: ImageOwner,
  images: readonly EditedImage[] = noImages,
): ReadonlyMap<string, string> {
  const contents = useQueries({
    queries: images.map(({ sha256, content }) => ({
      ...contentQuery(owner, sha256),
      enabled: content === undefined,
    })),
    combine: (results) => results.map(({ data }) => data),
  });
  return useMemo(() => {
    const urls = images.flatMap(({ contentId, contentType, content }, index) => {
      const base64 = content ?? contents[index];
      if (base64 === undefined) return [];
      return [[contentId, `data:${contentType};base64,${base64}`] as const];
    });
    return new Map(urls);
  }, [images, contents]);
}

/** The content of a file in base64. */
export async function toBase64(file: Blob): Promise<string> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
  return url.slice(url.indexOf(',') + 1);
}

/** `cid:` at the start of an attribute's value or of a style's `url(…)`. */
const reference =
  /((?:["'(=]|&quot;|&#34;|&#39;)\s*)cid:([^"'()\s<>]+?)(?=&quot;|&#34;|&#39;|["'()\s<>])/gi;

/** Max characters of all images together; HTML can repeat one without end. */
const maxCharacters = 32 * 1_024 * 1_024;

/** An image that doesn't load, which the frame's policy allows, so that its alternative text is shown. */
const unknownImage = 'data:,';

/** The HTML with its images instead of references to them. */
export function showImages(html: string, urls?: ReadonlyMap<string, string>): string {
  let left = maxCharacters;
  return html.replace(reference, (_, before: string, id: string) => {
    const url = urls?.get(decodeId(id.replaceAll('&amp;', '&')));
    if (url === undefined || url.length > left) return before + unknownImage;
    left -= url.length;
    return before + url;
  });
}

function decodeId(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
