import { List, Text } from '@mantine/core';
import type { MemberChange } from '../api/if-unchanged.ts';
import { formatNumber } from '../format/format-number.ts';
import { text, textOr } from '../texts/text.ts';

/** Concurrent changes: each member with its previous and current value. */
export function ChangeList({ changes }: { changes: readonly MemberChange[] }) {
  return (
    <>
      <List size="sm">
        {changes.map(({ name, seen, now }) => (
          <List.Item key={name} className="breakable">
            {text('problem.change', {
              name: textOr(`member.${name}`, name),
              seen: describeValue(seen),
              now: describeValue(now),
            })}
          </List.Item>
        ))}
      </List>
      <Text size="sm">{text('problem.notSaved')}</Text>
    </>
  );
}

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
