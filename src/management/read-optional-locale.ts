import { canonicalLocale, localeReason } from '../template/locale.ts';
import { invalidField } from './answer/problem.ts';

/** @throws Problem if it isn't a language tag */
export function readOptionalLocale(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const locale = canonicalLocale(text);
  if (locale === undefined) throw invalidField('locale', localeReason);
  return locale;
}
