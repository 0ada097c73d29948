import type { Locale } from '../../../accounts/notices/system-mail.ts';
import { german } from './mail.de.ts';
import { english } from './mail.en.ts';
import { spanish } from './mail.es.ts';
import { french } from './mail.fr.ts';
import type { MailTexts } from './mail-texts.ts';

/** The texts of system mail, by language. */
export const textsOf: Readonly<Record<Locale, MailTexts>> = {
  en: english,
  de: german,
  fr: french,
  es: spanish,
};
