import { parseTimestamp } from '../../../base/values/parse-timestamp.ts';
import { canonicalLocale, localeReason } from '../../../content/template/locale.ts';
import { invalidField } from './problem.ts';

/** RFC 3339 section 5.6; a date alone means midnight UTC. */
const timePattern =
  /^\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:\d{2}))?$/;

/** True for a timestamp or date that exists. */
export function isTimeOrDay(text: string): boolean {
  return parseTimeOrDay(text) !== undefined;
}

function parseTimeOrDay(text: string): Date | undefined {
  return timePattern.test(text) ? parseTimestamp(text) : undefined;
}

/**
 * Parses a timestamp or date.
 * @throws Problem if it is invalid
 */
export function readTime(name: string, text: string): Date {
  const time = parseTimeOrDay(text);
  if (time === undefined)
    throw invalidField(
      name,
      'must be a time such as 2026-01-31T12:00:00Z or a date such as 2026-01-31',
    );
  return time;
}

/** `readTime` for an optional parameter. */
export function readOptionalTime(name: string, text: string | undefined): Date | undefined {
  return text === undefined ? undefined : readTime(name, text);
}

/** @throws Problem if it isn't a language tag */
export function readOptionalLocale(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const locale = canonicalLocale(text);
  if (locale === undefined) throw invalidField('locale', localeReason);
  return locale;
}
