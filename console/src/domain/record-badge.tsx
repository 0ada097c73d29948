import { Tag } from '../components/tag.tsx';
import { textOr } from '../texts/text.ts';

const colors: Readonly<Record<string, string>> = { ok: 'green', missing: 'yellow', wrong: 'red' };

/** The state of a DNS record. */
export function RecordBadge({ state }: { state: string }) {
  return <Tag color={colors[state] ?? 'gray'}>{textOr(`domains.record.${state}`, state)}</Tag>;
}
