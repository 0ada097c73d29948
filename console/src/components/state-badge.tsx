import { Badge } from '@mantine/core';
import type { Message } from '../api/management.generated.ts';
import { stateViews } from '../message/message-states.ts';
import { text } from '../texts/text.ts';

/** A message state as a word; the color only reinforces it. A paused message says only that. */
export function StateBadge({ state, paused }: { state: Message['state']; paused?: boolean }) {
  return (
    <Badge
      className="state-badge"
      data-color={paused ? 'yellow' : stateViews[state].badge}
      variant="light"
      tt="none"
    >
      {text(paused ? 'state.paused' : `state.${state}`)}
    </Badge>
  );
}
