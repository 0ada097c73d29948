import { parseTimestamp } from '../../foundation/parse-timestamp.ts';
import { invalidField } from './problem.ts';

/** RFC 3339 section 5.6; a day alone means its beginning in UTC. */
const timePattern =
  /^\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:\d{2}))?$/;

/**
 * The moment that a parameter or member names.
 * @throws Problem where it names none
 */
export function readTime(name: string, text: string): Date {
  const time = timePattern.test(text) ? parseTimestamp(text) : undefined;
  if (time === undefined)
    throw invalidField(
      name,
      'is no time such as 2026-01-31T12:00:00Z, nor a day such as 2026-01-31',
    );
  return time;
}

/** As `readTime`, of one that may be left out. */
export function readOptionalTime(name: string, text: string | undefined): Date | undefined {
  return text === undefined ? undefined : readTime(name, text);
}
