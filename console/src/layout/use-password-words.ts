import { useEffect, useState } from 'react';
import { text } from '../texts/text.ts';
import type { PasswordWords } from './judge-password.ts';

const minLength = 12;

/** What to say about a new password while it is typed. The lists of common ones are loaded with the first character. */
export function usePasswordWords(password: string, personal: readonly string[]): PasswordWords {
  const [judge, setJudge] = useState<typeof import('./judge-password.ts')>();
  const isTyped = password !== '';
  useEffect(() => {
    // Without them, the answer of the service says the same.
    if (isTyped) import('./judge-password.ts').then(setJudge, () => undefined);
  }, [isTyped]);
  const missing = minLength - [...password].length;
  if (!isTyped || (missing <= 0 && judge === undefined))
    return { words: text('setUp.passwordHint') };
  if (missing > 0)
    return {
      words: text(missing === 1 ? 'setUp.oneMissing' : 'setUp.missing', { count: String(missing) }),
    };
  return judge?.judgePassword(password, personal) ?? { words: '' };
}
