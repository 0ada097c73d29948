import { decodeContentId } from '../../base/mime/decode.ts';
import { mailJob, toBuffer } from '../../base/mime/mail-threads.ts';
import { type MailFile, readMail } from '../../base/mime/read-mail.ts';
import { Busy } from '../../base/values/errors.ts';
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

type Captured = Pick<CapturedMessage, 'html' | 'source'>;

/** What a message shows besides its text. */
export interface ShownMail {
  /** The HTML part, with the message's own images instead of references to them. */
  readonly html: string | null;
  readonly attachments: readonly {
    readonly filename: string | null;
    readonly contentType: string;
    readonly size: number;
  }[];
}

const show = mailJob(showCapturedJob, import.meta.url);

/**
 * The HTML part and the files of a message for display.
 * @returns the HTML as it is, and no files, if the message can't be read
 * @throws Busy if too many wait
 */
export async function showCaptured({ html, source }: Captured): Promise<ShownMail> {
  try {
    return await show({ html, source }, { group: 'inbox' });
  } catch (error) {
    if (error instanceof Busy) throw error;
    return { html, attachments: [] };
  }
}

export function showCapturedJob({ html, source }: Captured): ShownMail {
  const { files } = readMail(source);
  return {
    html: html && insertImages(html, files),
    attachments: files.map(({ filename = null, type, content }) => ({
      filename,
      contentType: type,
      size: content.byteLength,
    })),
  };
}

const readFile = mailJob(readCapturedFileJob, import.meta.url);

/**
 * An attachment of a message.
 * @param place from 1
 * @returns undefined if it has none there
 * @throws Busy if too many wait
 */
export async function readCapturedFile(
  { source }: Pick<Captured, 'source'>,
  place: number,
): Promise<Pick<MailFile, 'filename' | 'content'> | undefined> {
  const file = await readFile({ source, place }, { group: 'inbox' });
  return file && { ...file, content: toBuffer(file.content) };
}

export function readCapturedFileJob({
  source,
  place,
}: Pick<Captured, 'source'> & { readonly place: number }): MailFile | undefined {
  return readMail(source).files[place - 1];
}

/** The HTML with the message's own images instead of references to them. */
function insertImages(html: string, files: readonly MailFile[]): string {
  if (!/cid:/i.test(html)) return html;
  const urls = new Map<string, string>();
  for (const { contentId, type, content } of files)
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
