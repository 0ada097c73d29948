interface Range {
  readonly from: number;
  readonly to: number;
}

const maxWords = 30;
const minLength = 3;

/**
 * Finds rendered text in the source it was rendered from: the longest run of its words that occurs there, because values
 * have replaced the fields and markup can stand between the words.
 */
export function findText(source: string, rendered: string): Range | undefined {
  const words = rendered.split(/\s+/).filter(Boolean).slice(0, maxWords).map(escapeForSource);
  for (let length = words.length; length > 0; length -= 1) {
    for (let start = 0; start + length <= words.length; start += 1) {
      const run = words.slice(start, start + length);
      if (run.join(' ').length < minLength) continue;
      const found = new RegExp(run.join('\\s+')).exec(source);
      if (found !== null) return { from: found.index, to: found.index + found[0].length };
    }
  }
  return undefined;
}

const hiddenElement = /^(?:mj-)?(?:style|title|preview|script)\b/i;

/** Where the first text begins that readers see; 0 if there is none. */
export function findFirstText(source: string): number {
  let at = Math.max(source.search(/<(?:mj-)?body\b/i), 0);
  for (const part of source.slice(at).split('<')) {
    const text = part.indexOf('>') + 1;
    if (/[\p{L}\p{N}{]/u.test(part.slice(text)) && !hiddenElement.test(part))
      return at + text + part.slice(text).search(/\S/);
    at += part.length + 1;
  }
  return 0;
}

/** A pattern for a word as it is or with its characters as HTML entities. */
function escapeForSource(word: string): string {
  return word
    .replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
    .replaceAll(/[&<>"’—…]/g, (character) => `(?:${character}|${entities[character]})`);
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '’': '&rsquo;',
  '—': '&mdash;',
  '…': '&hellip;',
};
