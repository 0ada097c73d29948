import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';
import {
  guessReasons,
  judgedLength,
  minScore,
  personalWords,
} from '../../../src/account/password-rules.ts';
import { text } from '../texts/text.ts';

const zxcvbn = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, maxLength: judgedLength });

/** How easy a password is to guess, as a sentence. */
export function judgePassword(password: string, personal: readonly string[]): string {
  const { score, feedback } = zxcvbn.check(password, personalWords(personal));
  if (score < minScore)
    return `${text('setUp.weak')} ${guessReasons[feedback.warning ?? ''] ?? guessReasons['']}`;
  return text(score >= 4 ? 'setUp.strong' : 'setUp.good');
}
