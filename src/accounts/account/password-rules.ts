/** Characters of a password that are judged; judging takes longer the more there are. */
export const judgedLength = 32;

/** Passwords that fewer guesses than 10 to the power of 6 find are refused: score 0 and 1 of zxcvbn. */
export const minScore = 2;

/** Used if zxcvbn has no warning. */
const common = 'It’s like one of the most common ones.';
const keys = 'It has a row of keys or a sequence.';
const repeats = 'It repeats characters.';
const dates = 'It has a date.';
/** What to choose instead. */
export const passwordAdvice = 'A few unrelated words work well.';
/** Why a password is easy to guess, by zxcvbn's warning. */
export const guessReasons: Readonly<Record<string, string>> = {
  '': common,
  userInputs: 'It has a name or an address that belongs to you.',
  simpleRepeat: repeats,
  extendedRepeat: repeats,
  straightRow: keys,
  keyPattern: keys,
  sequences: keys,
  dates,
  recentYears: dates,
};

/** What is easy to guess for a person: each of the texts, and their parts. */
export function personalWords(personal: readonly string[]): string[] {
  const parts = personal.flatMap((text) => [text, ...text.split(/[\s@.]+/)]);
  return [...new Set(['signalpost', ...parts])].filter((word) => word.length > 2);
}
