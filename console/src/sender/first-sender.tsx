import { Alert, Anchor, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useAccount, useMay, useMe } from '../account/use-me.ts';
import { useSettings } from '../account/use-settings.ts';
import type { Sender } from '../api/management.generated.ts';
import { reasonFor } from '../api/problem.ts';
import { useAction } from '../api/use-action.ts';
import { PageAnchor } from '../components/links.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { useSenders } from '../overview/use-overview.ts';
import { text } from '../texts/text.ts';
import { MarkVerified } from './mark-verified.tsx';
import { useAddSender } from './use-add-sender.ts';
import { useSenderLink } from './use-sender-link.ts';

/** The step to the first verified sender: an address to confirm, or a domain. */
export function FirstSender() {
  const may = useMay();
  const senders = useSenders();
  const [adding, setAdding] = useState(false);
  if (!may('senders:write')) return <Text size="sm">{text('steps.askForSender')}</Text>;
  const waiting = senders.data?.items.filter(({ verified }) => !verified) ?? [];
  return (
    <Stack gap="sm">
      {waiting.slice(0, 3).map((sender) => (
        <WaitingSender key={sender.address} sender={sender} />
      ))}
      {senders.isSuccess &&
        (waiting.length === 0 || adding ? (
          <SenderForm />
        ) : (
          <Group>
            <Anchor component="button" type="button" size="sm" onClick={() => setAdding(true)}>
              {text('steps.otherSender')}
            </Anchor>
          </Group>
        ))}
      <Text size="sm">
        {text('steps.domainInstead')}{' '}
        <PageAnchor to="/$account/domains" underline="always">
          {text('steps.domain')}
        </PageAnchor>
      </Text>
    </Stack>
  );
}

function WaitingSender({ sender: { address, linkExpiresAt } }: { sender: Sender }) {
  const { data: me } = useMe();
  const { data: settings } = useSettings();
  const link = useSenderLink();
  const sent = linkExpiresAt !== null;
  const isCaptured = sent && me?.operator === true && me.inbox;
  return (
    <Alert color={sent ? 'blue' : 'yellow'} p="sm">
      <Stack gap={6} align="flex-start">
        <Text size="sm" fw={600} className="breakable">
          {text(sent ? 'steps.linkSent' : 'steps.notConfirmed', { address })}
        </Text>
        {isCaptured && <Text size="sm">{text('steps.staysHere')}</Text>}
        {!sent && settings?.systemMail === false && (
          <Text size="sm">{text('senders.noSystemMail')}</Text>
        )}
        <Group gap="xs">
          {isCaptured && (
            <Button component="a" href="/inbox" size="compact-sm">
              {text('steps.openInbox')}
            </Button>
          )}
          {settings?.systemMail === true && (
            <Button
              size="compact-sm"
              variant={sent ? 'default' : 'filled'}
              loading={link.isPending}
              onClick={() => link.mutate(address)}
            >
              {text(sent ? 'senders.sendAgain' : 'senders.sendLink')}
            </Button>
          )}
          <MarkVerified address={address} />
        </Group>
        <ProblemAlert error={link.error} />
      </Stack>
    </Alert>
  );
}

function SenderForm() {
  const { account } = useAccount();
  const { data: me } = useMe();
  const { add, sendsLink } = useAddSender();
  const [typedAddress, setAddress] = useState<string>();
  const [typedName, setName] = useState<string>();
  const address = typedAddress ?? me?.person?.email ?? '';
  const name = typedName ?? account?.name ?? '';
  const action = useAction({
    mutationFn: () =>
      add({ address: address.trim(), displayNames: name.trim() === '' ? [] : [name.trim()] }),
  });

  function submit(event: FormEvent) {
    event.preventDefault();
    action.mutate();
  }

  return (
    <form onSubmit={submit}>
      <Stack gap="xs" align="flex-start">
        <Group align="flex-start">
          <TextInput
            label={text('senders.address')}
            type="email"
            required
            miw={260}
            value={address}
            onChange={(event) => setAddress(event.currentTarget.value)}
            error={reasonFor(action.error, 'address')}
          />
          <TextInput
            label={text('steps.senderName')}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={reasonFor(action.error, 'displayNames')}
          />
        </Group>
        <ProblemAlert error={action.error} />
        <Button type="submit" loading={action.isPending}>
          {text(sendsLink ? 'senders.addAndConfirm' : 'senders.add')}
        </Button>
      </Stack>
    </form>
  );
}
