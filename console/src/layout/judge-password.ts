import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';
import {
  guessReasons,
  judgedLength,
  minScore,
  passwordAdvice,
  personalWords,
} from '../../../src/accounts/account/password-rules.ts';
import { text } from '../texts/text.ts';

const zxcvbn = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, maxLength: judgedLength });

/** What to say about a password. */
export interface PasswordWords {
  readonly words: string;
  /** Undefined until it is long enough. */
  readonly judged?: 'weak' | 'good';
}

/** How easy a password is to guess. */
export function judgePassword(password: string, personal: readonly string[]): PasswordWords {
  const { score, feedback } = zxcvbn.check(password, personalWords(personal));
  if (score < minScore)
    return {
      words: `${text('setUp.weak')} ${guessReasons[feedback.warning ?? ''] ?? guessReasons['']} ${passwordAdvice}`,
      judged: 'weak',
    };
  return { words: text(score >= 4 ? 'setUp.strong' : 'setUp.good'), judged: 'good' };
}
