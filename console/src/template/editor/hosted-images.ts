import type { HostedImage } from '../../api/management.generated.ts';
import { api } from '../../api/management.ts';
import { toBase64 } from '../template-images.ts';
import type { EditedContent } from './use-draft.ts';

/** Images that emails can show. */
export const hostedImageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** Wider images are shown this wide. */
const maxShownWidth = 552;

/** An image in the source. */
export interface ShownImage {
  readonly url: string;
  readonly alt: string;
  readonly width: number;
}

export async function hostImage(accountId: string, file: File): Promise<HostedImage> {
  const content = await toBase64(file);
  return api.post('/accounts/{accountId}/images', { accountId }, { filename: file.name, content });
}

/** A hosted image as a file. Its path is the same here, even if people reach the console by another host. */
export async function readHostedFile({ url, filename, contentType }: HostedImage): Promise<File> {
  const answer = await fetch(localImagePath(url));
  if (!answer.ok) throw new Error(`${filename}: ${answer.status}`);
  return new File([await answer.blob()], filename, { type: contentType });
}

/** The address of a hosted image on the host of the console. */
export function localImagePath(url: string): string {
  return new URL(url).pathname;
}

/** The width to show a file at, in pixels. */
export async function shownWidthOf(file: Blob): Promise<number> {
  try {
    const { width } = await createImageBitmap(file);
    return Math.min(width, maxShownWidth);
  } catch {
    return maxShownWidth;
  }
}

/** `Shop logo.png` becomes `Shop logo`. */
export function altOf(filename: string): string {
  return filename.replace(/\.[^.]*$/, '');
}

/** True if any markup of the content, its variants included, has the text. */
export function isInMarkup(content: EditedContent, text: string): boolean {
  const all = [content, ...Object.values(content.variants ?? {})];
  return all.some(({ html, mjml }) => `${html ?? ''}${mjml ?? ''}`.includes(text));
}

/** Replaces an address in all markup of the content. */
export function replaceInMarkup(content: EditedContent, from: string, to: string): EditedContent {
  const escaped = from.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  // An address isn't part of a longer one.
  const pattern = new RegExp(`${escaped}(?![\\w.%@-])`, 'g');
  const replace = (markup: string) => markup.replaceAll(pattern, () => to);
  const inBodies = <Bodies extends { html?: string; mjml?: string }>(bodies: Bodies): Bodies => ({
    ...bodies,
    ...(bodies.html === undefined ? {} : { html: replace(bodies.html) }),
    ...(bodies.mjml === undefined ? {} : { mjml: replace(bodies.mjml) }),
  });
  const { variants, unusedMarkup } = content;
  return {
    ...inBodies(content),
    ...(variants && { variants: mapValues(variants, inBodies) }),
    ...(unusedMarkup && { unusedMarkup: mapValues(unusedMarkup, replace) }),
  };
}

function mapValues<Value>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value) => Value,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
