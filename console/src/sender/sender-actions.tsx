import { Button, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useAccountId, useMay, useMe } from '../account/use-me.ts';
import { useSettings } from '../account/use-settings.ts';
import { deleteUnchanged } from '../api/if-unchanged.ts';
import type { Sender } from '../api/management.generated.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { ConfirmByName } from '../components/confirm-by-name.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowMenu } from '../components/row-menu.tsx';
import { text } from '../texts/text.ts';
import { MarkVerifiedDialog } from './mark-verified.tsx';
import { SenderDialog } from './sender-dialog.tsx';
import { useSenderLink } from './use-sender-link.ts';

/** The actions of a sender. Confirmation by email comes first; operators can also mark it as verified. */
export function SenderActions({ sender }: { sender: Sender }) {
  const accountId = useAccountId();
  const may = useMay();
  const { data: settings } = useSettings();
  const refresh = useRefresh('senders');
  const { data: me } = useMe();
  const [changing, change] = useDisclosure();
  const [verifying, verification] = useDisclosure();
  const [removing, removal] = useDisclosure();
  const link = useSenderLink();
  const { address, verified, linkExpiresAt } = sender;
  const params = { accountId, address };
  const resourcePath = '/accounts/{accountId}/senders/{address}';

  async function remove() {
    const { displayNames } = sender;
    await deleteUnchanged(resourcePath, params, { displayNames, verified });
    await refresh();
  }

  if (!may('senders:write')) return null;
  return (
    <>
      <Group gap={4} wrap="nowrap" justify="flex-end">
        {/* Shown until the settings say otherwise: rows don't move when they arrive. */}
        {!verified && settings?.systemMail !== false && (
          <Button
            size="compact-sm"
            variant="subtle"
            loading={link.isPending}
            onClick={() => link.mutate(address)}
          >
            {text(linkExpiresAt === null ? 'senders.sendLink' : 'senders.sendAgain')}
          </Button>
        )}
        <RowMenu
          name={address}
          items={[
            { label: text('change'), choose: change.open },
            ...(!verified && me?.operator === true
              ? [{ label: text('senders.verify'), choose: verification.open }]
              : []),
            { label: text('remove'), color: 'red', choose: removal.open },
          ]}
        />
      </Group>
      <MarkVerifiedDialog address={address} opened={verifying} close={verification.close} />
      <ConfirmByName
        opened={removing}
        close={removal.close}
        title={text('senders.removeTitle')}
        consequence={text('senders.removeConsequence')}
        name={address}
        action={text('remove')}
        confirm={remove}
      />
      <ProblemAlert error={link.error} />
      <SenderDialog opened={changing} close={change.close} sender={sender} />
    </>
  );
}
