import type { CapturedMessage } from './inbox-message.ts';

/** `cid:` at the start of an attribute's value or of a style's `url(…)` (RFC 2392). */
const reference =
  /((?:["'(=]|&quot;|&#34;|&#39;)\s*)cid:([^"'()\s<>]+?)(?=&quot;|&#34;|&#39;|["'()\s<>])/gi;
/** Max characters of all images together; HTML can repeat one without end. */
const maxCharacters = 32 * 1_024 * 1_024;
const images = /^image\/(png|jpeg|gif|webp)$/;

/**
 * The HTML part for display: with the message's own images instead of references to them.
 * @returns the HTML as it is where it refers to none, or the message can't be parsed
 */
export async function showInlineImages({
  html,
  source,
}: Pick<CapturedMessage, 'html' | 'source'>): Promise<string | null> {
  if (html === null || !/cid:/i.test(html)) return html;
  const { simpleParser } = await import('mailparser');
  const options = { skipHtmlToText: true, skipTextToHtml: true, skipImageLinks: true };
  const parsed = await simpleParser(source, { ...options, keepCidLinks: true }).catch(
    () => undefined,
  );
  if (parsed === undefined) return html;
  const urls = new Map<string, string>();
  for (const { cid, contentType, content } of parsed.attachments)
    if (cid !== undefined && images.test(contentType))
      urls.set(cid, `data:${contentType};base64,${content.toString('base64')}`);
  let left = maxCharacters;
  return html.replace(reference, (whole, before: string, id: string) => {
    const url = urls.get(decodeId(id.replaceAll('&amp;', '&')));
    if (url === undefined || url.length > left) return whole;
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
