import { Badge } from '@mantine/core';
import { textOr } from '../texts/text.ts';

const colors: Readonly<Record<string, string>> = {
  queued: 'gray',
  sending: 'blue',
  deferred: 'yellow',
  delivered: 'green',
  bounced: 'red',
  expired: 'orange',
  failed: 'red',
  uncertain: 'grape',
  suppressed: 'orange',
  canceled: 'gray',
  opened: 'teal',
  clicked: 'teal',
  complained: 'red',
  unsubscribed: 'orange',
};

/** A message state or event as a word; the color only reinforces it. */
export function StateBadge({ state }: { state: string }) {
  return (
    <Badge className="state-badge" data-color={colors[state] ?? 'gray'} variant="light" tt="none">
      {textOr(`state.${state}`, state)}
    </Badge>
  );
}
