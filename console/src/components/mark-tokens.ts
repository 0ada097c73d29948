interface Token {
  readonly text: string;
  readonly kind?: 'string' | 'name' | 'comment';
}

/** Strings, names of JSON members and comments look the same in all languages of the samples. */
const pattern =
  /("(?:[^"\\\n]|\\.)*"(?=\s*:))|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|((?<=^|\s)(?:#|\/\/)[^\n]*)/gm;

/** Splits code into the parts that have a color of their own, and the rest. */
export function markTokens(code: string): Token[] {
  const tokens: Token[] = [];
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    const [text, name, string] = match;
    tokens.push({ text: code.slice(end, match.index) });
    tokens.push({ text, kind: name ? 'name' : string ? 'string' : 'comment' });
    end = match.index + text.length;
  }
  return [...tokens, { text: code.slice(end) }];
}
