import { Alert, Text } from '@mantine/core';
import { useAccountId } from '../account/use-me.ts';
import type { Sender } from '../api/management.generated.ts';
import { useSenders } from '../overview/use-overview.ts';
import { PageAnchor } from '../parts/links.tsx';
import { text } from '../texts/text.ts';
import { useTemplate } from './use-template.ts';

/** The sender that a new template begins with: its creator's own address where that may send, else the first that may. */
export function chooseSender(senders: readonly Sender[], creator: string): string | undefined {
  const verified = senders.filter((sender) => sender.verified).map(({ address }) => address);
  return verified.find((address) => isSame(address, creator)) ?? verified[0];
}

interface UnverifiedSenderProps {
  /** The sender that the template names; without one its creator is the sender. */
  sender: string | undefined;
}

/** Warns where requests with the template would be refused for its sender, and leads to where that is mended. */
export function UnverifiedSender({ sender }: UnverifiedSenderProps) {
  const account = useAccountId();
  const { data: template } = useTemplate();
  const { data: senders } = useSenders();
  const from = sender ?? template?.createdBy;
  if (from === undefined || senders === undefined) return null;
  if (senders.items.some(({ address, verified }) => verified && isSame(address, from))) return null;
  const known = senders.items.some(({ address }) => isSame(address, from));
  // It may be one of those that were not read.
  if (!known && senders.nextCursor !== null) return null;
  return (
    <Alert color="yellow" title={text('editor.senderUnverified', { sender: from })}>
      <Text size="sm">{text('editor.senderUnverifiedHint')}</Text>
      <PageAnchor to="/$account/senders" params={{ account }} underline="always">
        {text('editor.senderVerify')}
      </PageAnchor>
    </Alert>
  );
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
