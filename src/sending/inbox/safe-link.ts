const schemes = new Set(['http:', 'https:', 'mailto:', 'tel:']);

/** Returns the link if it leads to a page, an email address or a phone number; undefined for scripts and files. */
export function safeLink(href: string): string | undefined {
  const url = URL.parse(href.trim());
  return url !== null && schemes.has(url.protocol) ? href.trim() : undefined;
}

/** A piece of text, and its target if it is a link. */
export interface TextPiece {
  readonly text: string;
  readonly href: string | undefined;
}

const address = /https?:\/\/[^\s<>"']+/gi;

/** Splits text at the URLs in it. Punctuation after a URL stays outside it. */
export function cutAtLinks(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let end = 0;
  for (const match of text.matchAll(address)) {
    const found = trimEnd(match[0]);
    const href = safeLink(found);
    if (href === undefined) continue;
    if (match.index > end) pieces.push({ text: text.slice(end, match.index), href: undefined });
    pieces.push({ text: found, href });
    end = match.index + found.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), href: undefined });
  return pieces;
}

const punctuation = '.,;:!?*_]';

/** Without punctuation at its end, and without a closing parenthesis that was opened before the address. */
function trimEnd(address: string): string {
  const isEnclosed = address.includes('(');
  let end = address.length;
  while (end > 0) {
    const last = address.charAt(end - 1);
    if (!punctuation.includes(last) && (last !== ')' || isEnclosed)) break;
    end -= 1;
  }
  return address.slice(0, end);
}
