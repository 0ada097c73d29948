import { List, Modal, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useAccountId } from '../account/use-me.ts';
import type { Integration } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { TimeText } from '../components/time-text.tsx';
import { text } from '../texts/text.ts';

interface ConsentsDialogProps {
  opened: boolean;
  close: () => void;
  integration: Integration;
}

/** The consents to an integration; people revoke their own consent on their own page. */
export function ConsentsDialog({ opened, close, integration }: ConsentsDialogProps) {
  const accountId = useAccountId();
  const { clientId, name } = integration;
  const consents = useQuery({
    queryKey: ['consents', accountId, clientId],
    queryFn: () =>
      api.get('/accounts/{accountId}/integrations/{clientId}/consents', { accountId, clientId }),
    enabled: opened,
  });
  return (
    <Modal opened={opened} onClose={close} title={text('integrations.consentsTo', { name })}>
      <ProblemAlert error={consents.error} />
      {consents.isLoading && <Skeleton height={60} />}
      {consents.data?.items.length === 0 && (
        <Text c="dimmed">{text('integrations.noConsents')}</Text>
      )}
      <List>
        {consents.data?.items.map(({ email, grantedAt }) => (
          <List.Item key={email}>
            {email} · <TimeText value={grantedAt} />
          </List.Item>
        ))}
      </List>
    </Modal>
  );
}
