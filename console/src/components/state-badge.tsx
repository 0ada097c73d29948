import { Badge } from '@mantine/core';
import type { Message } from '../api/management.generated.ts';
import { stateViews } from '../message/message-states.ts';
import { text } from '../texts/text.ts';

/** A message state as a word; the color only reinforces it. */
export function StateBadge({ state }: { state: Message['state'] }) {
  return (
    <Badge className="state-badge" data-color={stateViews[state].badge} variant="light" tt="none">
      {text(`state.${state}`)}
    </Badge>
  );
}
