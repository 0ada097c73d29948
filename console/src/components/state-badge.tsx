import { Badge } from '@mantine/core';
import type { Message } from '../api/management.generated.ts';
import { stateViews } from '../message/message-states.ts';
import { useCaptured } from '../message/use-captured.ts';
import { text } from '../texts/text.ts';

interface StateBadgeProps {
  state: Message['state'];
  /** Of a test message. */
  test?: boolean;
  /** Shown instead of the state. */
  waits?: 'paused' | 'scheduled' | 'canceling' | undefined;
}

/** A message state as a word; the color only reinforces it. */
export function StateBadge({ state, test = false, waits }: StateBadgeProps) {
  const captured = useCaptured({ state, test });
  const shown = waits ?? (captured ? 'captured' : state);
  return (
    <Badge className="state-badge" data-color={colorOf(state, shown)} variant="light" tt="none">
      {text(`state.${shown}`)}
    </Badge>
  );
}

function colorOf(state: Message['state'], shown: string): string {
  if (shown === 'paused') return 'yellow';
  return shown === 'captured' ? 'blue' : stateViews[state].badge;
}
