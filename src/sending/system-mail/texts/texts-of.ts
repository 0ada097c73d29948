import type { Locale } from '../../../accounts/notices/system-mail.ts';
import { german } from './mail.de.ts';
import { english, type MailTexts } from './mail.en.ts';
import { spanish } from './mail.es.ts';
import { french } from './mail.fr.ts';

/** The texts of system mail, by language. */
export const textsOf: Readonly<Record<Locale, MailTexts>> = {
  en: english,
  de: german,
  fr: french,
  es: spanish,
};
