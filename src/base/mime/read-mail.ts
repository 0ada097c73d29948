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

/** Joins the lines of a flowed text (RFC 3676 section 4). */
function unflow(text: string, { params }: MimeEntity): string {
  if (params.get('format')?.[0]?.toLowerCase() !== 'flowed') return text;
  const dropsSpace = params.get('delsp')?.[0]?.toLowerCase() === 'yes';
  const lines: string[] = [];
  let open: { readonly depth: number; text: string } | undefined;
  for (const line of text.split('\n')) {
    const quote = /^>*/.exec(line)?.[0] ?? '';
    const own = line.slice(quote.length).replace(/^ /, '');
    const isFlowed = own.endsWith(' ') && own !== '-- ';
    const kept = isFlowed && dropsSpace ? own.slice(0, -1) : own;
    if (open !== undefined && open.depth === quote.length && own !== '-- ') open.text += kept;
    else {
      if (open !== undefined) lines.push(open.text);
      open = { depth: quote.length, text: quote === '' ? kept : `${quote} ${kept}` };
    }
    if (isFlowed) continue;
    lines.push(open.text);
    open = undefined;
  }
  if (open !== undefined) lines.push(open.text);
  return lines.join('\n');
}
