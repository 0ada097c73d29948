import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import { createNew } from '../api/if-unchanged.ts';
import type { ContactList } from '../api/management.generated.ts';
import { usePages } from '../api/pages.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { AreaList } from '../components/area-list.tsx';
import { Field, IdField } from '../components/field.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { PageAnchor } from '../components/links.tsx';
import { Note } from '../components/note.tsx';
import type { Column } from '../components/rows.tsx';
import { TimeText } from '../components/time-text.tsx';
import { useAddDialog } from '../components/use-add-dialog.tsx';
import { formatNumber } from '../format/format-number.ts';
import { text } from '../texts/text.ts';

/** The name of a list, which leads to it. */
export const listColumn: Column<ContactList> = {
  title: text('lists.name'),
  cell: ({ id, name, description }) => (
    <div>
      <PageAnchor to="/$account/lists/$list" params={{ list: id }}>
        {name}
      </PageAnchor>
      <Note>{description}</Note>
    </div>
  ),
};

/** The contact lists of the account. */
export function ListsPage() {
  const { button: add, dialog } = useAddDialog(text('lists.add'), 'lists:write', 'new-list');
  const pages = usePages('/accounts/{accountId}/lists');
  return (
    <AreaList
      area="lists"
      add={add}
      pages={pages}
      idOf={({ id }) => id}
      columns={[
        listColumn,
        { title: text('lists.id'), cell: ({ id }) => id },
        { title: text('lists.folder'), cell: ({ folderName }) => folderName },
        { title: text('lists.size'), numeric: true, cell: ({ size }) => formatNumber(size) },
        {
          title: text('lists.modified'),
          cell: ({ modifiedAt }) => <TimeText value={modifiedAt} />,
        },
      ]}
    >
      <ListDialog {...dialog} />
    </AreaList>
  );
}

function ListDialog(props: { opened: boolean; close: () => void }) {
  const accountId = useAccountId();
  const refresh = useRefresh('lists');
  const [id, setId] = useState('');
  const [name, setName] = useState('');
  const [folderName, setFolder] = useState('');
  const [description, setDescription] = useState('');

  async function submit() {
    await createNew(
      'id',
      '/accounts/{accountId}/lists/{listId}',
      { accountId, listId: id },
      { name, folderName, description },
    );
    await refresh();
  }

  return (
    <FormDialog {...props} title={text('lists.add')} action={text('lists.create')} submit={submit}>
      <Field
        field="name"
        label={text('lists.name')}
        required
        value={name}
        change={setName}
        data-autofocus
      />
      <IdField
        field="id"
        label={text('lists.id')}
        description={text('lists.idHint')}
        value={id}
        change={setId}
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
    </FormDialog>
  );
}
