import { Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useAccountId, useMay, useMe } from '../account/use-me.ts';
import { ifUnchanged } from '../api/if-unchanged.ts';
import type { Sender } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { useAction } from '../api/use-action.ts';
import { ConfirmByName } from '../components/confirm-by-name.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { text } from '../texts/text.ts';
import { SenderDialog } from './sender-dialog.tsx';

/** The actions of a sender; operators can mark it as verified. */
export function SenderActions({ sender }: { sender: Sender }) {
  const accountId = useAccountId();
  const may = useMay();
  const { data: me } = useMe();
  const client = useQueryClient();
  const [changing, change] = useDisclosure();
  const [removing, remove] = useDisclosure();
  const path = { accountId, address: sender.address };
  const resourcePath = '/accounts/{accountId}/senders/{address}';
  const readSender = () => api.GET(resourcePath, { params: { path } });
  const refresh = () => client.invalidateQueries({ queryKey: ['senders', accountId] });

  const verify = useAction({
    mutationFn: () =>
      ifUnchanged({ verified: false }, readSender, (precondition) =>
        api.PUT(resourcePath, { params: { path }, body: { verified: true }, ...precondition }),
      ),
    onSuccess: refresh,
  });

  const link = useAction({
    mutationFn: () =>
      answerOf(api.POST('/accounts/{accountId}/senders/{address}/link', { params: { path } })),
  });

  if (!may('senders:write')) return null;
  return (
    <>
      <Group gap={4} wrap="nowrap">
        {!sender.verified && me?.operator === true && (
          <Button size="compact-sm" loading={verify.isPending} onClick={() => verify.mutate()}>
            {text('senders.verify')}
          </Button>
        )}
        {!sender.verified && (
          <Button
            size="compact-sm"
            variant="default"
            loading={link.isPending}
            onClick={() => link.mutate()}
          >
            {text('senders.sendLink')}
          </Button>
        )}
        <Button size="compact-sm" variant="subtle" onClick={change.open}>
          {text('change')}
        </Button>
        <Button size="compact-sm" variant="subtle" color="red" onClick={remove.open}>
          {text('remove')}
        </Button>
      </Group>
      {link.isSuccess && (
        <Text size="sm" role="status">
          {text('senders.linkSent', { address: sender.address })}
        </Text>
      )}
      <ProblemAlert error={verify.error ?? link.error} onRefreshed={verify.reset} />
      <SenderDialog opened={changing} close={change.close} sender={sender} />
      <ConfirmByName
        opened={removing}
        close={remove.close}
        title={text('senders.removeTitle')}
        consequence={text('senders.removeConsequence')}
        name={sender.address}
        action={text('remove')}
        confirm={async () => {
          const { displayNames, verified } = sender;
          await ifUnchanged({ displayNames, verified }, readSender, (precondition) =>
            api.DELETE(resourcePath, { params: { path }, ...precondition }),
          );
          await refresh();
        }}
      />
    </>
  );
}
