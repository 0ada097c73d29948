const candidates = [',', ';', '\t'] as const;

type Delimiter = (typeof candidates)[number];

/** How a file separates its values, and where its header row is. */
export interface CsvForm {
  readonly delimiter: Delimiter;
  /** The line of the header, from 1. */
  readonly firstLine: number;
}

/**
 * Recognizes a file's delimiter: whichever occurs most in the header row, outside quotes; a comma if none does. Spreadsheets also
 * name it in a first line such as `sep=;`.
 * @param beginning of the file, long enough for its header
 */
export function detectDelimiter(beginning: string): CsvForm {
  const text = beginning.replace(/^\ufeff/, '');
  const named = /^sep=([,;\t])\r?\n/i.exec(text)?.[1];
  const found = candidates.find((candidate) => candidate === named);
  if (found !== undefined) return { delimiter: found, firstLine: 2 };
  const counts = countInHeader(text.trimStart());
  const delimiter = candidates.reduce((best, candidate) =>
    (counts.get(candidate) ?? 0) > (counts.get(best) ?? 0) ? candidate : best,
  );
  return { delimiter, firstLine: 1 };
}

function countInHeader(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  let isQuoted = false;
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted;
    if (isQuoted) continue;
    if (character === '\n' || character === '\r') break;
    counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  return counts;
}
