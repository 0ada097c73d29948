import { Badge } from '@mantine/core';
import type { Message } from '../api/management.generated.ts';
import { text } from '../texts/text.ts';

const colors: Readonly<Record<Message['state'], string>> = {
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
};

/** A message state as a word; the color only reinforces it. */
export function StateBadge({ state }: { state: Message['state'] }) {
  return (
    <Badge className="state-badge" data-color={colors[state]} variant="light" tt="none">
      {text(`state.${state}`)}
    </Badge>
  );
}
