import { Text } from '@mantine/core';
import { useAccountId, useMay } from '../account/use-me.ts';
import { useSettings } from '../account/use-settings.ts';
import type { Sender } from '../api/management.generated.ts';
import { PageAnchor } from '../components/links.tsx';
import { Tag } from '../components/tag.tsx';
import { TimeText } from '../components/time-text.tsx';
import { text } from '../texts/text.ts';

/** Whether a sender is verified, how, and what it waits for. */
export function SenderState({ sender }: { sender: Sender }) {
  const { verified, verifiedBy, domainState, linkExpiresAt } = sender;
  const { data: settings } = useSettings();
  // Direct delivery only sends signed mail.
  const waitsForDomain = settings?.delivery === 'direct' && domainState !== 'verified';
  const isWaiting = !verified && linkExpiresAt !== null;
  const label = verified ? 'senders.isVerified' : isWaiting ? 'senders.waiting' : 'senders.isNot';
  return (
    <div>
      <Tag color={verified ? 'green' : 'yellow'}>{text(label)}</Tag>
      <Text size="xs" c="dimmed">
        {verifiedBy !== null &&
          text(waitsForDomain ? 'senders.waitsForDomain' : `senders.by.${verifiedBy}`)}
        {isWaiting && (
          <>
            {text('senders.linkExpires')} <TimeText value={linkExpiresAt} as="distance" />
          </>
        )}
      </Text>
      {isWaiting && <InboxHint />}
    </div>
  );
}

/** Where the confirmation link is if mail stays on this machine. */
function InboxHint() {
  const account = useAccountId();
  const may = useMay();
  if (!may('inbox:read')) return null;
  return (
    <Text size="xs">
      {text('senders.inInbox')}{' '}
      <PageAnchor to="/$account/inbox" params={{ account }} underline="always">
        {text('senders.openInbox')}
      </PageAnchor>
    </Text>
  );
}
