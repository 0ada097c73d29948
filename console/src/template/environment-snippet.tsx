import { Code, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useAccountId, useMay, useMe } from '../account/use-me.ts';
import { CopyButton } from '../components/copy-field.tsx';
import { PageAnchor } from '../components/links.tsx';
import { useIntegrations } from '../overview/use-overview.ts';
import { text } from '../texts/text.ts';
import { quote } from './snippets.ts';

/** Shell variables for the code samples, prefilled with known values but never secrets. */
export function EnvironmentSnippet() {
  const account = useAccountId();
  const may = useMay();
  const { data: me } = useMe();
  const integrations = useIntegrations();
  const usable = integrations.data?.items.find(
    ({ grants, disabled }) => grants.includes('password') && !disabled,
  );
  const code = [
    `export SIGNALPOST_USER=${quote(me?.person?.email ?? '…')}`,
    `export SIGNALPOST_PASSWORD='…'`,
    `export SIGNALPOST_CLIENT_ID=${quote(usable?.clientId ?? '…')}`,
    `export SIGNALPOST_SECRET='…'`,
  ].join('\n');
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="environment">
      <Group justify="space-between" mb="xs">
        <Title order={2} id="environment">
          {text('use.environment')}
        </Title>
        <CopyButton value={code} />
      </Group>
      <Stack gap="xs">
        <Text size="sm" c="dimmed">
          {text('use.environmentHint')}
        </Text>
        {integrations.data !== undefined && usable === undefined && (
          <Text size="sm">
            {text('use.noIntegration')}{' '}
            {may('integrations:write') && (
              <PageAnchor to="/$account/integrations" params={{ account }} underline="always">
                {text('integrations.add')}
              </PageAnchor>
            )}
          </Text>
        )}
        <Code block className="snippet" id="environment-code">
          {code}
        </Code>
      </Stack>
    </Paper>
  );
}
