import { Button, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useAccountId, useMay } from '../account/use-me.ts';
import { useSettings } from '../account/use-settings.ts';
import { ifUnchanged } from '../api/if-unchanged.ts';
import type { Sender } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RemoveButton } from '../components/remove-button.tsx';
import { text } from '../texts/text.ts';
import { MarkVerified } from './mark-verified.tsx';
import { SenderDialog } from './sender-dialog.tsx';
import { useSenderLink } from './use-sender-link.ts';

/** The actions of a sender. Confirmation by email comes first; operators can also mark it as verified. */
export function SenderActions({ sender }: { sender: Sender }) {
  const accountId = useAccountId();
  const may = useMay();
  const { data: settings } = useSettings();
  const client = useQueryClient();
  const [changing, change] = useDisclosure();
  const link = useSenderLink();
  const { address, verified, linkExpiresAt } = sender;
  const params = { path: { accountId, address } };
  const resourcePath = '/accounts/{accountId}/senders/{address}';

  async function remove() {
    const { displayNames } = sender;
    await ifUnchanged(
      { displayNames, verified },
      () => api.GET(resourcePath, { params }),
      (precondition) => api.DELETE(resourcePath, { params, ...precondition }),
    );
    await client.invalidateQueries({ queryKey: ['senders', accountId] });
  }

  if (!may('senders:write')) return null;
  return (
    <>
      <Group gap={4} wrap="nowrap" justify="flex-end">
        {!verified && settings?.systemMail === true && (
          <Button
            size="compact-sm"
            variant={linkExpiresAt === null ? 'filled' : 'default'}
            loading={link.isPending}
            onClick={() => link.mutate(address)}
          >
            {text(linkExpiresAt === null ? 'senders.sendLink' : 'senders.sendAgain')}
          </Button>
        )}
        {!verified && <MarkVerified address={address} />}
        <Button size="compact-sm" variant="subtle" onClick={change.open}>
          {text('change')}
        </Button>
        <RemoveButton
          title={text('senders.removeTitle')}
          consequence={text('senders.removeConsequence')}
          name={address}
          remove={remove}
        />
      </Group>
      <ProblemAlert error={link.error} />
      <SenderDialog opened={changing} close={change.close} sender={sender} />
    </>
  );
}
