import { text } from '../texts/text.ts';
import { formatNumber } from './format-number.ts';

/** Number of characters shown of a value. */
const maxValueLength = 80;

/** A value as text, cut if it is long. */
export function describeValue(value: unknown): string {
  const full = formatValue(value);
  return full.length > maxValueLength ? `${full.slice(0, maxValueLength)}…` : full;
}

function formatValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–';
  if (typeof value === 'boolean') return text(value ? 'yes' : 'no');
  if (typeof value === 'number') return formatNumber(value);
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(formatValue).join(', ') || '–';
  const entries = Object.entries(value).map(([name, one]) => `${name}: ${formatValue(one)}`);
  return entries.join(', ') || '–';
}
