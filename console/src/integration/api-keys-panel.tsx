import { Button, Code, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { ApiKey } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { Icon } from '../components/icon.tsx';
import { ListBody } from '../components/list-body.tsx';
import { RemoveButton } from '../components/remove-button.tsx';
import { TimeText } from '../components/time-text.tsx';
import { text } from '../texts/text.ts';
import { ApiKeyDialog, type CreatedKey } from './api-key-dialog.tsx';
import { RotateKey } from './rotate-key-dialog.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { TryKey } from './try-key.tsx';

/** API keys for sending and for the management API. */
export function ApiKeysPanel() {
  const accountId = useAccountId();
  const may = useMay();
  const [opened, dialog] = useDisclosure();
  const [created, setCreated] = useState<CreatedKey>();
  const pages = usePages<ApiKey>({
    queryKey: ['keys', accountId],
    read: () =>
      answerOf(api.GET('/accounts/{accountId}/keys', { params: { path: { accountId } } })),
  });
  const add = may('keys:write') ? (
    <Button leftSection={<Icon name="plus" />} onClick={dialog.open}>
      {text('keys.add')}
    </Button>
  ) : undefined;
  return (
    <>
      <ListBody
        label={text('keys.title')}
        pages={pages}
        idOf={({ id }) => id}
        empty={{
          icon: 'integrations',
          title: text('keys.none'),
          hint: text('keys.noneHint'),
          action: add,
        }}
        columns={[
          { title: text('keys.key'), cell: (apiKey) => <KeyName apiKey={apiKey} /> },
          { title: text('keys.scopes'), cell: (apiKey) => <KeyLimits apiKey={apiKey} /> },
          {
            title: text('keys.expires'),
            cell: ({ expiresAt }) =>
              expiresAt === null ? text('never') : <TimeText value={expiresAt} distance />,
          },
          {
            title: text('keys.used'),
            cell: ({ lastUsedAt }) =>
              lastUsedAt === null ? text('never') : <TimeText value={lastUsedAt} distance />,
          },
          {
            title: text('actions'),
            actions: true,
            cell: (apiKey) => may('keys:write') && <KeyActions apiKey={apiKey} show={setCreated} />,
          },
        ]}
      />
      {pages.items.length > 0 && add && <Group mt="md">{add}</Group>}
      <ApiKeyDialog opened={opened} close={dialog.close} show={setCreated} />
      <SecretDialog
        name={text('keys.key')}
        secret={created?.key}
        close={() => setCreated(undefined)}
      >
        {created?.sampleTemplateId !== undefined && (
          <TryKey keyText={created.key} templateId={created.sampleTemplateId} />
        )}
      </SecretDialog>
    </>
  );
}

function KeyName({ apiKey: { name, hint, createdBy } }: { apiKey: ApiKey }) {
  const accountId = useAccountId();
  return (
    <div>
      <Text size="sm" className="breakable">
        {name}
      </Text>
      {hint !== null && <Code>{`sp_${accountId}_…${hint}`}</Code>}
      <Text size="xs" c="dimmed" className="breakable">
        {createdBy === null ? text('keys.byCommand') : text('keys.by', { person: createdBy })}
      </Text>
    </div>
  );
}

function KeyLimits({ apiKey: { scopes, networks, templates } }: { apiKey: ApiKey }) {
  const limits = [
    templates && text('keys.onlyTemplates', { templates: templates.join(', ') }),
    networks && text('keys.onlyNetworks', { networks: networks.join(', ') }),
  ].filter((limit) => limit !== null);
  return (
    <div>
      <Text size="sm">{scopes.join(', ')}</Text>
      {limits.map((limit) => (
        <Text key={limit} size="xs" c="dimmed" className="breakable">
          {limit}
        </Text>
      ))}
    </div>
  );
}

function KeyActions({ apiKey, show }: { apiKey: ApiKey; show: (created: CreatedKey) => void }) {
  const accountId = useAccountId();
  const client = useQueryClient();
  const expired = apiKey.expiresAt !== null && Date.parse(apiKey.expiresAt) <= Date.now();

  async function revoke() {
    await answerOf(
      api.DELETE('/accounts/{accountId}/keys/{keyId}', {
        params: { path: { accountId, keyId: apiKey.id } },
      }),
    );
    await client.invalidateQueries({ queryKey: ['keys', accountId] });
  }

  return (
    <Group gap={4} wrap="nowrap" justify="flex-end">
      {!expired && <RotateKey apiKey={apiKey} show={show} />}
      <RemoveButton
        title={text('keys.end')}
        consequence={text('keys.endConsequence')}
        name={apiKey.name}
        action={text('keys.end')}
        remove={revoke}
      />
    </Group>
  );
}
