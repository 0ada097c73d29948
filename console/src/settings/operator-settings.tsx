import { Box, Button, Group, Paper, Switch, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMe } from '../account/use-me.ts';
import { Confirm } from '../components/confirm.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { text } from '../texts/text.ts';
import { AttachmentLimit } from './attachment-limit.tsx';
import { useInstallationAccount } from './use-installation-account.ts';

/** Account settings for operators. */
export function OperatorSettings() {
  const { account, save, error } = useInstallationAccount();
  const { data: me } = useMe();
  if (me?.operator !== true) return null;
  // Reserves the space of the switch while loading.
  const { addOns = [] } = account ?? {};
  const busy = account === undefined || save.isPending;
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="operate">
      <Title order={2} id="operate">
        {text('operate.title')}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {text('operate.hint')}
      </Text>
      <Box className="line" pb="sm">
        <Switch
          label={text('operate.transactional')}
          description={text('operate.transactionalHint')}
          checked={addOns.includes('transactional')}
          disabled={busy}
          onChange={({ currentTarget }) =>
            save.mutate({
              seen: { addOns },
              change: { addOns: currentTarget.checked ? ['transactional'] : [] },
            })
          }
        />
      </Box>
      {account !== undefined && (
        <Box className="line" pt="sm" pb={0}>
          <AttachmentLimit current={account.attachmentLimit} />
        </Box>
      )}
      <ProblemAlert error={error ?? save.error} onRefreshed={save.reset} />
    </Paper>
  );
}

/** Suspends the account, or lifts that. */
export function SuspendCard() {
  const { account, save } = useInstallationAccount();
  const { data: me } = useMe();
  const [confirming, confirmation] = useDisclosure();
  if (me?.operator !== true) return null;
  const { suspended = false } = account ?? {};
  const suspend = (to: boolean) => save.mutate({ seen: { suspended }, change: { suspended: to } });
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="suspend" className="danger-zone">
      <Group justify="space-between">
        <div>
          <Title order={2} id="suspend">
            {text(suspended ? 'operate.suspended' : 'operate.active')}
          </Title>
          <Text size="sm" c="dimmed">
            {text(suspended ? 'operate.suspendedHint' : 'operate.activeHint')}
          </Text>
        </div>
        {/* Only suspending asks for confirmation. */}
        <Button
          variant="default"
          {...(!suspended && { className: 'destructive' })}
          disabled={account === undefined || save.isPending}
          onClick={() => (suspended ? suspend(false) : confirmation.open())}
        >
          {text(suspended ? 'operate.lift' : 'operate.suspend')}
        </Button>
      </Group>
      <ProblemAlert error={save.error} onRefreshed={save.reset} />
      <Confirm
        opened={confirming}
        close={confirmation.close}
        title={text('operate.suspendTitle')}
        consequence={text('operate.suspendConsequence')}
        action={text('operate.suspend')}
        dismiss={text('operate.keepActive')}
        destructive
        // The error is shown below.
        confirm={async () => suspend(true)}
      />
    </Paper>
  );
}
