import { decodeWords } from '../../foundation/mime/decode-words.ts';
import type { MailFields } from '../../foundation/mime/header-fields.ts';

/** The keyword of Auto-Submitted (RFC 3834 section 5), in lower case; undefined if there is none. */
export function readAutoSubmitted(fields: MailFields): string | undefined {
  const [keyword = ''] = headerOf(fields, 'auto-submitted').toLowerCase().split(';');
  return keyword.trim().slice(0, 100) || undefined;
}

/**
 * True if a program wrote the mail, so programs shouldn't reply to it: it says so (RFC 3834 section 5), has an empty return path
 * (RFC 3834 section 3.3, RFC 5321 section 4.5.5), is from a list (RFC 2919), or has one of the older fields with this meaning.
 * @param envelopeFrom MAIL FROM; empty: none
 */
export function isAutomatic(fields: MailFields, envelopeFrom: string): boolean {
  if (envelopeFrom === '') return true;
  const submitted = readAutoSubmitted(fields);
  if (submitted !== undefined && submitted !== 'no') return true;
  const precedence = headerOf(fields, 'precedence');
  if (/^\s*(bulk|list|junk|auto[-_]?reply)\b/i.test(precedence)) return true;
  if (/^\s*multipart\/report\b/i.test(headerOf(fields, 'content-type'))) return true;
  const suppress = headerOf(fields, 'x-auto-response-suppress');
  if (suppress !== '' && !/^\s*none\s*$/i.test(suppress)) return true;
  return (
    automaticFields.some((name) => fields.has(name)) ||
    automaticSubject.test(decodeWords(headerOf(fields, 'subject')))
  );
}

const automaticFields = [
  'list-id',
  'x-autoreply',
  'x-autoreply-from',
  'x-autorespond',
  'x-vacation',
];

/** How programs that set no field begin their subjects. */
const automaticSubject =
  /^\s*(?:auto(?:matic)?[ -]?(?:reply|response)|auto|out of (?:the )?office(?: auto-?reply)?|automatische (?:antwort|reactie)|abwesenheitsnotiz|réponse automatique|respuesta automática|risposta automatica|resposta automática)\s*:/i;

const maxFieldLength = 4_000;

function headerOf(fields: MailFields, name: string): string {
  return (fields.get(name) ?? '').slice(0, maxFieldLength);
}
