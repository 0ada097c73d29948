import { Paper, Stack, Switch, Text, Title } from '@mantine/core';
import { ProblemAlert } from '../parts/problem-alert.tsx';
import { text } from '../texts/text.ts';
import { useInstallationAccount } from './use-installation-account.ts';

/** What an account may do at all, for whoever looks after the installation. */
export function OperatorSettings() {
  const { account, save, error } = useInstallationAccount();
  if (account === undefined && error === null) return null;
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="operate">
      <Title order={2} id="operate">
        {text('operate.title')}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {text('operate.hint')}
      </Text>
      {account !== undefined && (
        <Stack gap="sm">
          <Switch
            label={text('operate.transactional')}
            description={text('operate.transactionalHint')}
            checked={account.addOns.includes('transactional')}
            disabled={save.isPending}
            onChange={({ currentTarget }) =>
              save.mutate({
                seen: { addOns: account.addOns },
                change: { addOns: currentTarget.checked ? ['transactional'] : [] },
              })
            }
          />
          <Switch
            label={text('operate.suspended')}
            description={text('operate.suspendedHint')}
            color="red"
            checked={account.suspended}
            disabled={save.isPending}
            onChange={({ currentTarget }) =>
              save.mutate({
                seen: { suspended: account.suspended },
                change: { suspended: currentTarget.checked },
              })
            }
          />
        </Stack>
      )}
      <ProblemAlert error={error ?? save.error} />
    </Paper>
  );
}
