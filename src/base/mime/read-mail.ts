import { decodedContent, decodedText, type MimeEntity, walkParts } from './mime-entity.ts';

/** A part that isn't text to read. */
export interface MailFile {
  readonly filename: string | undefined;
  /** In lower case, without parameters. */
  readonly type: string;
  /** Without angle brackets. */
  readonly contentId: string | undefined;
  readonly content: Buffer;
}

/** What a mail program shows of a message. */
export interface MailBody {
  /** Undefined if there is none. */
  readonly text: string | undefined;
  readonly html: string | undefined;
  readonly files: readonly MailFile[];
}

const limits = { parts: 1_000, depth: 20, messages: false, guess: true };

/**
 * Reads the texts and files of a message, neither text derived from the other.
 * @throws TooManyParts
 */
export function readMail(source: Buffer): MailBody {
  const texts: string[] = [];
  const htmls: string[] = [];
  const files: MailFile[] = [];
  for (const { entity, isLeaf } of walkParts(source, limits)) {
    if (!isLeaf || (entity.type.startsWith('multipart/') && entity.body.length === 0)) continue;
    if (isShown(entity)) {
      const text = decodedText(entity).replaceAll('\r\n', '\n');
      if (entity.type === 'text/html') htmls.push(text);
      else texts.push(unflow(text, entity));
    } else files.push(toFile(entity));
  }
  return {
    text: texts.length === 0 ? undefined : texts.join('\n'),
    html: htmls.length === 0 ? undefined : htmls.join('\n'),
    files,
  };
}

/** A multipart that can't be split is shown as text, too. */
function isShown({ type, disposition = 'inline' }: MimeEntity): boolean {
  const isText = type === 'text/plain' || type === 'text/html' || type.startsWith('multipart/');
  return isText && disposition === 'inline';
}

function toFile(entity: MimeEntity): MailFile {
  return {
    filename: entity.filename,
    type: entity.type,
    contentId: entity.fields.get('content-id')?.replace(/^</, '').replace(/>$/, ''),
    content: decodedContent(entity),
  };
}

/** Joins the lines of a flowed text (RFC 3676 section 4). What stays as it is is copied at once: a text can be all lines. */
function unflow(text: string, { params }: MimeEntity): string {
  if (params.get('format')?.[0]?.toLowerCase() !== 'flowed') return text;
  const dropsSpace = params.get('delsp')?.[0]?.toLowerCase() === 'yes';
  let joined = '';
  let copied = 0;
  const replace = (start: number, end: number, by: string): void => {
    joined += text.slice(copied, start) + by;
    copied = end;
  };
  /** The quote depth of a line that goes on in the next one, and where its text ends. */
  let open: { readonly depth: number; readonly end: number } | undefined;
  for (let start = 0; start <= text.length; ) {
    const found = text.indexOf('\n', start);
    const end = found < 0 ? text.length : found;
    let own = start;
    while (own < end && text[own] === '>') own += 1;
    const depth = own - start;
    const stuffed = own < end && text[own] === ' ';
    if (stuffed) own += 1;
    const isSignature = end - own === 3 && text.startsWith('-- ', own);
    if (open?.depth === depth && !isSignature) replace(open.end, own, '');
    else {
      if (open !== undefined && open.end < start - 1) replace(open.end, start - 1, '');
      if (stuffed !== depth > 0) replace(start + depth, own, depth > 0 ? ' ' : '');
    }
    const isFlowed = end > own && text[end - 1] === ' ' && !isSignature;
    open = isFlowed ? { depth, end: dropsSpace ? end - 1 : end } : undefined;
    start = end + 1;
  }
  return joined + text.slice(copied, open?.end);
}
