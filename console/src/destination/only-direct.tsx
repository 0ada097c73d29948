import { Code } from '@mantine/core';
import { EmptyState } from '../components/empty-state.tsx';
import { text } from '../texts/text.ts';

interface OnlyDirectProps {
  /** How mail is delivered instead. */
  delivery: string;
  /** What there is with direct delivery. */
  what: 'destinations.rateLimits' | 'destinations.tlsResults';
}

/** Says how to get what only direct delivery has. */
export function OnlyDirect({ delivery, what }: OnlyDirectProps) {
  const [before = '', after = ''] = text('destinations.toDirect', { what: text(what) }).split(
    '{setting}',
  );
  return (
    <EmptyState
      icon="destinations"
      title={text('destinations.notDirect')}
      hint={
        <>
          {text(delivery === 'inbox' ? 'destinations.captures' : 'destinations.relays')} {before}
          <Code>DELIVERY=direct</Code>
          {after}
        </>
      }
    />
  );
}
