import { Paper, Stack, Switch, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMe } from '../account/use-me.ts';
import { Confirm } from '../components/confirm.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { text } from '../texts/text.ts';
import { useInstallationAccount } from './use-installation-account.ts';

/** What an account may do at all, for whoever looks after the installation. */
export function OperatorSettings() {
  const { account, save, error } = useInstallationAccount();
  const { data: me } = useMe();
  const [confirming, confirmation] = useDisclosure();
  if (me?.operator !== true) return null;
  // The switches keep their place while the account is being read.
  const { addOns = [], suspended = false } = account ?? {};
  const busy = account === undefined || save.isPending;
  const suspend = (to: boolean) => save.mutate({ seen: { suspended }, change: { suspended: to } });
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="operate">
      <Title order={2} id="operate">
        {text('operate.title')}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {text('operate.hint')}
      </Text>
      <Stack gap="sm">
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
        <Switch
          label={text('operate.suspended')}
          description={text('operate.suspendedHint')}
          color="red"
          checked={suspended}
          disabled={busy}
          // Lifting it brings back what was, so only the other way asks.
          onChange={() => (suspended ? suspend(false) : confirmation.open())}
        />
      </Stack>
      <ProblemAlert error={error ?? save.error} onRefreshed={save.reset} />
      <Confirm
        opened={confirming}
        close={confirmation.close}
        title={text('operate.suspendTitle')}
        consequence={text('operate.suspendConsequence')}
        action={text('operate.suspend')}
        // What went wrong stands with the switch.
        confirm={async () => suspend(true)}
      />
    </Paper>
  );
}
