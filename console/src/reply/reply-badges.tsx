import { Badge } from '@mantine/core';
import { text } from '../texts/text.ts';

/** That a program sent a reply. */
export function AutomaticBadge() {
  return (
    <Badge component="span" className="state-badge" data-color="gray" tt="none">
      {text('replies.automatic')}
    </Badge>
  );
}

/** Whether the domain of the sender confirms a reply. */
export function AuthenticationBadge({ isConfirmed }: { isConfirmed: boolean }) {
  return (
    <Badge className="state-badge" data-color={isConfirmed ? 'green' : 'yellow'} tt="none">
      {text(isConfirmed ? 'replies.authenticated' : 'replies.unauthenticated')}
    </Badge>
  );
}
