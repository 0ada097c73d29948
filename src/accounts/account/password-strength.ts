import { TurnQueue } from '../../base/fairness/fair-queue.ts';
import { guessReasons, judgedLength, minScore, personalWords } from './password-rules.ts';

/** A check can take a tenth of a second, so checks for one address leave time for everything else. */
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
    return score < minScore
      ? (guessReasons[feedback.warning ?? ''] ?? guessReasons[''])
      : undefined;
  };
}
