import { Tag } from '../components/tag.tsx';
import { text } from '../texts/text.ts';

/** That a program sent a reply. */
export function AutomaticBadge() {
  return <Tag>{text('replies.automatic')}</Tag>;
}

/** Whether the domain of the sender confirms a reply. */
export function AuthenticationBadge({ isConfirmed }: { isConfirmed: boolean }) {
  return (
    <Tag color={isConfirmed ? 'green' : 'yellow'}>
      {text(isConfirmed ? 'replies.authenticated' : 'replies.unauthenticated')}
    </Tag>
  );
}
