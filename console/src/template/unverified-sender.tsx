import './editor-texts.ts';
import { Alert, Text } from '@mantine/core';
import type { Sender } from '../api/management.generated.ts';
import { PageAnchor } from '../components/links.tsx';
import { useSenders } from '../overview/use-overview.ts';
import { text } from '../texts/text.ts';
import { useTemplate } from './use-template.ts';

/**
 * The default sender of a new template: a verified one, if possible of a domain that is set up, so its mail is signed, and
 * the creator's own.
 */
export function chooseSender(senders: readonly Sender[], creator: string): string | undefined {
  const verified = senders.filter((sender) => sender.verified);
  const signed = verified.filter(({ domainState }) => domainState === 'verified');
  const usable = signed.length > 0 ? signed : verified;
  return (usable.find(({ address }) => isSameAddress(address, creator)) ?? usable[0])?.address;
}

interface UnverifiedSenderProps {
  /** The sender of the template; without one, its creator is the sender. */
  sender: string | undefined;
}

/** Warns if the template's sender isn't verified, with a link to fix it. */
export function UnverifiedSender({ sender }: UnverifiedSenderProps) {
  const { data: template } = useTemplate();
  const { data: senders } = useSenders();
  const from = sender ?? template?.createdBy;
  if (from === undefined || senders === undefined) return null;
  if (senders.items.some(({ address, verified }) => verified && isSameAddress(address, from)))
    return null;
  const isListed = senders.items.some(({ address }) => isSameAddress(address, from));
  // It may be on a page that isn't loaded.
  if (!isListed && senders.nextCursor !== null) return null;
  return (
    <Alert color="yellow" p="sm">
      <Text size="sm" className="breakable">
        <Text span inherit fw={600}>
          {text('editor.senderUnverified', { sender: from })}
        </Text>{' '}
        {text('editor.senderUnverifiedHint')}{' '}
        <PageAnchor to="/$account/senders" inherit underline="always">
          {text('editor.senderVerify')}
        </PageAnchor>
      </Text>
    </Alert>
  );
}

function isSameAddress(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
