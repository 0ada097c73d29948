import { Button, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import { createNew } from '../api/if-unchanged.ts';
import type { ContactList } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { Field, IdField } from '../components/field.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { Icon } from '../components/icon.tsx';
import { PageAnchor } from '../components/links.tsx';
import { ListBody } from '../components/list-body.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { TimeText } from '../components/time-text.tsx';
import { formatNumber } from '../format/format-number.ts';
import { useRequestedDialog } from '../layout/requested-dialog.ts';
import { text } from '../texts/text.ts';

/** The contact lists of the account. */
export function ListsPage() {
  const accountId = useAccountId();
  const may = useMay();
  const [opened, dialog] = useDisclosure();
  useRequestedDialog('new-list', dialog.open);
  const pages = usePages<ContactList>({
    queryKey: ['lists', accountId],
    read: (cursor) =>
      answerOf(
        api.GET('/accounts/{accountId}/lists', {
          params: { path: { accountId }, query: { cursor } },
        }),
      ),
  });
  const add = may('lists:write') ? (
    <Button leftSection={<Icon name="plus" />} onClick={dialog.open}>
      {text('lists.add')}
    </Button>
  ) : undefined;
  return (
    <>
      <PageHeading title={text('lists.title')} hint={text('lists.hint')}>
        {add}
      </PageHeading>
      <ListBody
        label={text('lists.title')}
        pages={pages}
        idOf={({ id }) => id}
        empty={{
          icon: 'lists',
          title: text('lists.none'),
          hint: text('lists.noneHint'),
          action: add,
        }}
        columns={[
          {
            title: text('lists.name'),
            cell: ({ id, name, description }) => (
              <div>
                <PageAnchor to="/$account/lists/$list" params={{ account: accountId, list: id }}>
                  {name}
                </PageAnchor>
                <Text size="xs" c="dimmed">
                  {description}
                </Text>
              </div>
            ),
          },
          { title: text('lists.id'), cell: ({ id }) => id },
          { title: text('lists.folder'), cell: ({ folderName }) => folderName },
          { title: text('lists.size'), numeric: true, cell: ({ size }) => formatNumber(size) },
          {
            title: text('lists.modified'),
            cell: ({ modifiedAt }) => <TimeText value={modifiedAt} />,
          },
        ]}
      />
      <ListDialog opened={opened} close={dialog.close} />
    </>
  );
}

function ListDialog(props: { opened: boolean; close: () => void }) {
  const accountId = useAccountId();
  const client = useQueryClient();
  const [id, setId] = useState('');
  const [name, setName] = useState('');
  const [folderName, setFolder] = useState('');
  const [description, setDescription] = useState('');

  async function submit() {
    await createNew('id', (precondition) =>
      api.PUT('/accounts/{accountId}/lists/{listId}', {
        params: { path: { accountId, listId: id } },
        body: { name, folderName, description },
        ...precondition,
      }),
    );
    await client.invalidateQueries({ queryKey: ['lists', accountId] });
  }

  return (
    <FormDialog {...props} title={text('lists.add')} action={text('lists.create')} submit={submit}>
      {(error) => (
        <>
          <Field
            field="name"
            label={text('lists.name')}
            required
            value={name}
            change={setName}
            error={error}
            data-autofocus
          />
          <IdField
            field="id"
            label={text('lists.id')}
            description={text('lists.idHint')}
            value={id}
            change={setId}
            error={error}
          />
          <TextInput
            label={text('lists.folder')}
            value={folderName}
            onChange={(event) => setFolder(event.currentTarget.value)}
          />
          <TextInput
            label={text('lists.description')}
            value={description}
            onChange={(event) => setDescription(event.currentTarget.value)}
          />
        </>
      )}
    </FormDialog>
  );
}
