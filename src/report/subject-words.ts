/** Scripts that write words without spaces between them. */
const dense =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const letter = `[[\\p{L}\\p{N}\\p{M}]--[${dense}]]`;
/** A run of a dense script, or what is between spaces, without punctuation around it. */
const token = new RegExp(`[${dense}]+|${letter}(?:[[\\S]--[${dense}]]*${letter})?`, 'gv');
const denseStart = new RegExp(`^[${dense}]`, 'u');

/** Longer words are cut. */
const maxWordLength = 64;
const minPartLength = 3;

/**
 * The words of a text as they are searched for: in lower case, without punctuation around them. Of scripts without spaces, each
 * pair of characters is a word.
 */
export function wordsOf(text: string): string[] {
  const words = new Set<string>();
  for (const [found] of text.normalize('NFKC').toLowerCase().matchAll(token)) {
    if (denseStart.test(found)) for (const pair of pairsOf(found)) words.add(pair);
    else words.add(found.slice(0, maxWordLength));
  }
  return [...words];
}

/** The words that a subject is found by: its words, and parts of those that have punctuation inside, such as `A-1001`. */
export function searchedWordsOf(subject: string): string[] {
  const words = wordsOf(subject);
  const parts = words.flatMap((word) =>
    word.split(/[^\p{L}\p{N}\p{M}]+/u).filter((part) => part.length >= minPartLength),
  );
  return [...new Set([...words, ...parts])];
}

function pairsOf(run: string): string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}
