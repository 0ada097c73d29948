import { decodeContentId } from '../../base/mime/decode.ts';
import { mailJob } from '../../base/mime/mail-threads.ts';
import { readMail } from '../../base/mime/read-mail.ts';
import type { CapturedMessage } from './inbox-message.ts';

/**
 * `cid:` at the start of an attribute's value or of a style's `url(…)` (RFC 2392). Whatever follows ends it, so no character is
 * read twice.
 */
const reference =
  /((?:["'(=]|&quot;|&#34;|&#39;)\s*)cid:([^"'()\s<>]+?)(?=&quot;|&#34;|&#39;|["'()\s<>]|$)/gi;
/** Max characters of all images together; HTML can repeat one without end. */
const maxCharacters = 32 * 1_024 * 1_024;
const images = /^image\/(png|jpeg|gif|webp)$/;

const insertImages = mailJob(showInlineImagesJob, import.meta.url);

/**
 * The HTML part for display: with the message's own images instead of references to them.
 * @returns the HTML as it is where it refers to none, or the message can't be read
 */
export async function showInlineImages({
  html,
  source,
}: Pick<CapturedMessage, 'html' | 'source'>): Promise<string | null> {
  if (html === null || !/cid:/i.test(html)) return html;
  return insertImages({ html, source }, { group: 'inbox' }).catch(() => html);
}

/** The HTML with the message's own images instead of references to them. */
export function showInlineImagesJob({
  html,
  source,
}: {
  readonly html: string;
  readonly source: Buffer;
}): string {
  const urls = new Map<string, string>();
  for (const { contentId, type, content } of readMail(source).files)
    if (contentId !== undefined && images.test(type))
      urls.set(contentId, `data:${type};base64,${content.toString('base64')}`);
  let left = maxCharacters;
  return html.replace(reference, (whole, before: string, id: string) => {
    const url = urls.get(decodeContentId(id.replaceAll('&amp;', '&')));
    if (url === undefined || url.length > left) return whole;
    left -= url.length;
    return before + url;
  });
}
