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
