import { TurnQueue } from '../foundation/turn-queue.ts';

/** Characters of a password that are judged; judging takes longer the more there are. */
export const judgedLength = 32;

/** Passwords that fewer guesses than 10 to the power of 6 find are refused: score 0 and 1 of zxcvbn. */
export const minScore = 2;

const common = 'It’s like one of the most common ones.';
const keys = 'Rows of keys and sequences are easy to guess.';
const repeats = 'Repeated characters are easy to guess.';
const dates = 'Dates are easy to guess.';
/** Why a password is easy to guess, by zxcvbn's warning. */
export const guessReasons: Readonly<Record<string, string>> = {
  '': common,
  userInputs: 'Names and addresses that belong to you are easy to guess.',
  simpleRepeat: repeats,
  extendedRepeat: repeats,
  straightRow: keys,
  keyPattern: keys,
  sequences: keys,
  dates,
  recentYears: dates,
};

/** One judgement can take a tenth of a second, so those of an address leave time to everything else. */
const turns = new TurnQueue();
let judge: Promise<(password: string, personal: readonly string[]) => string | undefined>;

/**
 * Compares a password with lists of common ones, which are part of the service, and with what is known about the person (ASVS
 * 2.1.7).
 * @param personal such as their name and address
 * @returns why it is too easy to guess, as a sentence; undefined if it isn't
 */
export async function findGuessReason(
  password: string,
  personal: readonly string[],
): Promise<string | undefined> {
  judge ??= loadJudge();
  const check = await judge;
  return turns.run(personal[0] ?? '', () => check(password, personal));
}

/** Loaded with the first new password: the lists take 30 MB of memory. */
async function loadJudge() {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  const zxcvbn = new ZxcvbnFactory({
    dictionary,
    graphs: adjacencyGraphs,
    maxLength: judgedLength,
  });
  return (password: string, personal: readonly string[]): string | undefined => {
    const { score, feedback } = zxcvbn.check(password, personalWords(personal));
    return score < minScore ? (guessReasons[feedback.warning ?? ''] ?? common) : undefined;
  };
}

/** Each of them, and their parts. */
export function personalWords(personal: readonly string[]): string[] {
  const parts = personal.flatMap((text) => [text, ...text.split(/[\s@.]+/)]);
  return [...new Set(['signalpost', ...parts])].filter((word) => word.length > 2);
}
