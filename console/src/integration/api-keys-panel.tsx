import { Button, Checkbox, SimpleGrid } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccount, useAccountId, useMay } from '../account/use-me.ts';
import type { ApiKey, paths } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { reasonFor } from '../api/problem.ts';
import { Field } from '../parts/field.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { ListBody } from '../parts/list-body.tsx';
import { RemoveButton } from '../parts/remove-button.tsx';
import { TimeText } from '../parts/time-text.tsx';
import { text } from '../texts/text.ts';
import { SecretDialog } from './secret-dialog.tsx';

type KeyScope =
  paths['/accounts/{accountId}/keys']['post']['requestBody']['content']['application/json']['scopes'][number];

/** Keys with which machines call the management API. */
export function ApiKeysPanel() {
  const accountId = useAccountId();
  const may = useMay();
  const [opened, dialog] = useDisclosure();
  const [key, setKey] = useState<string>();
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
          { title: text('keys.name'), cell: ({ name }) => name },
          { title: text('keys.scopes'), cell: ({ scopes }) => scopes.join(', ') },
          {
            title: text('keys.used'),
            cell: ({ lastUsedAt }) =>
              lastUsedAt === null ? text('never') : <TimeText value={lastUsedAt} distance />,
          },
          {
            title: text('actions'),
            actions: true,
            cell: (apiKey) => <RemoveKey apiKey={apiKey} />,
          },
        ]}
      />
      {pages.items.length > 0 && add}
      <KeyDialog opened={opened} close={dialog.close} show={setKey} />
      <SecretDialog name={text('keys.key')} secret={key} close={() => setKey(undefined)} />
    </>
  );
}

function KeyDialog(props: { opened: boolean; close: () => void; show: (key: string) => void }) {
  const accountId = useAccountId();
  const client = useQueryClient();
  const { account } = useAccount();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<string[]>([]);
  const { show, ...dialog } = props;

  async function submit() {
    const { key } = await answerOf(
      api.POST('/accounts/{accountId}/keys', {
        params: { path: { accountId } },
        body: { name, scopes: scopes as KeyScope[] },
      }),
    );
    await client.invalidateQueries({ queryKey: ['keys', accountId] });
    show(key);
  }

  return (
    <FormDialog {...dialog} title={text('keys.add')} action={text('keys.make')} submit={submit}>
      {(error) => (
        <>
          <Field
            field="name"
            label={text('keys.name')}
            description={text('keys.nameHint')}
            required
            value={name}
            change={setName}
            error={error}
            data-autofocus
          />
          <Checkbox.Group
            label={text('keys.scopes')}
            value={scopes}
            onChange={setScopes}
            error={reasonFor(error, 'scopes')}
          >
            <SimpleGrid cols={2} spacing={6} mt={4}>
              {account?.permissions.map((scope) => (
                <Checkbox key={scope} value={scope} label={scope} />
              ))}
            </SimpleGrid>
          </Checkbox.Group>
        </>
      )}
    </FormDialog>
  );
}

function RemoveKey({ apiKey }: { apiKey: ApiKey }) {
  const accountId = useAccountId();
  const may = useMay();
  const client = useQueryClient();
  if (!may('keys:write')) return null;

  async function end() {
    await answerOf(
      api.DELETE('/accounts/{accountId}/keys/{keyId}', {
        params: { path: { accountId, keyId: apiKey.id } },
      }),
    );
    await client.invalidateQueries({ queryKey: ['keys', accountId] });
  }

  return (
    <RemoveButton
      title={text('keys.end')}
      consequence={text('keys.endConsequence')}
      name={apiKey.name}
      action={text('keys.end')}
      remove={end}
    />
  );
}
