import { isSafeLink } from '../frame/safe-link.ts';

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
    const href = trimEnd(match[0]);
    if (!isSafeLink(href)) continue;
    if (match.index > end) pieces.push({ text: text.slice(end, match.index), href: undefined });
    pieces.push({ text: href, href });
    end = match.index + href.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), href: undefined });
  return pieces;
}

const punctuation = '.,;:!?*_]';

/** Without punctuation at its end, and without a closing parenthesis that was opened before the address. */
function trimEnd(found: string): string {
  const isEnclosed = found.includes('(');
  let end = found.length;
  while (end > 0) {
    const last = found.charAt(end - 1);
    if (!punctuation.includes(last) && (last !== ')' || isEnclosed)) break;
    end -= 1;
  }
  return found.slice(0, end);
}
