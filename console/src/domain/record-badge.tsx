import { Badge } from '@mantine/core';
import { textOr } from '../texts/text.ts';

const colors: Readonly<Record<string, string>> = { ok: 'green', missing: 'yellow', wrong: 'red' };

/** The state of a DNS record. */
export function RecordBadge({ state }: { state: string }) {
  return (
    <Badge className="state-badge" data-color={colors[state] ?? 'gray'} tt="none">
      {textOr(`domains.record.${state}`, state)}
    </Badge>
  );
}
