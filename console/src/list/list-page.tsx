import { Box, Button, Group, Input, Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import { createNew, deleteUnchanged, putUnchanged } from '../api/if-unchanged.ts';
import type { Contact } from '../api/management.generated.ts';
import { usePages } from '../api/pages.ts';
import { reasonFor } from '../api/problem.ts';
import { useGet } from '../api/use-get.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { ConfirmByName } from '../components/confirm-by-name.tsx';
import { dialogOf } from '../components/dialog-of.tsx';
import { EditedRows } from '../components/edited-rows.tsx';
import { Field } from '../components/field.tsx';
import { DialogForm } from '../components/form-dialog.tsx';
import { Icon } from '../components/icon.tsx';
import { PageAnchor, PageButton } from '../components/links.tsx';
import { ListBody } from '../components/list-body.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { PageProblem } from '../components/page-problem.tsx';
import { RowMenu, type RowMenuItem } from '../components/row-menu.tsx';
import { SearchField } from '../components/search-field.tsx';
import { UndoButton } from '../components/undo-button.tsx';
import { useDialog } from '../components/use-dialog.ts';
import { useForm } from '../form/use-form.ts';
import { formatNumber } from '../format/format-number.ts';
import { Imports } from '../import/imports.tsx';
import { text } from '../texts/text.ts';
import { type FieldRow, fieldsIn, rowsOf } from './contact-fields.ts';

/** One contact list with its contacts. */
export function ListPage() {
  const accountId = useAccountId();
  const { list: listId = '' } = useParams({ strict: false });
  const may = useMay();
  const refresh = useRefresh('lists');
  const navigate = useNavigate();
  const dialog = useDialog();
  const importer = useDialog();
  const removal = useDialog();
  const [typed, setTyped] = useState('');
  const [startsWith] = useDebouncedValue(typed.trim(), 250);
  const path = { accountId, listId };
  const list = useGet('/accounts/{accountId}/lists/{listId}', { params: path });
  const pages = usePages('/accounts/{accountId}/lists/{listId}/contacts', {
    params: path,
    query: { ...(startsWith !== '' && { startsWith }) },
    enabled: may('contacts:read'),
  });
  const names = [...new Set(pages.items.flatMap(({ fields }) => Object.keys(fields)))].slice(0, 6);

  async function remove() {
    const { name = '', size = 0 } = list.data ?? {};
    const resourcePath = '/accounts/{accountId}/lists/{listId}';
    await deleteUnchanged(resourcePath, path, { name, size });
    await navigate({ to: '/$account/lists', params: { account: accountId } });
    await refresh();
  }

  const more: readonly RowMenuItem[] = [
    ...(may('contacts:read')
      ? [
          {
            label: text('contacts.export'),
            choose: `/manage/v1/accounts/${accountId}/lists/${listId}/export`,
          },
        ]
      : []),
    ...(may('lists:write')
      ? [{ label: text('lists.remove'), color: 'red' as const, choose: removal.open }]
      : []),
  ];
  return (
    <>
      <PageAnchor to="/$account/lists" size="sm">
        {text('lists.back')}
      </PageAnchor>
      <PageHeading
        title={list.data?.name ?? listId}
        hint={
          list.data === undefined
            ? ''
            : [text('contacts.count', { count: list.data.size }), list.data.description]
                .filter((part) => part !== '')
                .join(' · ')
        }
      >
        {may('contacts:write') && (
          <>
            <Button leftSection={<Icon name="plus" />} onClick={dialog.open}>
              {text('contacts.add')}
            </Button>
            <Button variant="default" onClick={importer.open}>
              {text('contacts.import')}
            </Button>
          </>
        )}
        {more.length > 0 && <RowMenu name={list.data?.name ?? listId} items={more} onPage />}
      </PageHeading>
      <PageProblem error={list.error} icon="lists">
        <PageButton to="/$account/lists">{text('lists.back')}</PageButton>
      </PageProblem>
      {may('contacts:read') && (
        <>
          <Imports
            dialog={importer}
            title={text('contacts.importTitle')}
            hint={text('contacts.importHint')}
            listId={listId}
          />
          {(typed !== '' || pages.items.length > 0 || pages.isPlaceholderData) && (
            <Box component="search" mb="md">
              <SearchField name={text('contacts.find')} value={typed} change={setTyped} maw={360} />
            </Box>
          )}
          <ListBody
            label={text('contacts.title')}
            pages={pages}
            idOf={({ email }) => email}
            empty={{
              icon: 'lists',
              title: text(startsWith === '' ? 'contacts.none' : 'contacts.noneFound'),
              hint: text(startsWith === '' ? 'contacts.noneHint' : 'contacts.noneFoundHint'),
            }}
            columns={[
              { title: text('contacts.email'), cell: ({ email }) => email },
              ...names.map((name) => ({
                title: name,
                cell: ({ fields }: Contact) => fields[name],
              })),
              {
                title: text('actions'),
                actions: true,
                cell: (contact) => <ContactActions listId={listId} contact={contact} />,
              },
            ]}
          />
        </>
      )}
      <ContactDialog {...dialog.props} listId={listId} />
      <ConfirmByName
        {...removal.props}
        title={text('lists.removeTitle')}
        consequence={text('lists.removeConsequence', { count: formatNumber(list.data?.size ?? 0) })}
        name={listId}
        action={text('lists.remove')}
        confirm={remove}
      />
    </>
  );
}

function ContactActions({ listId, contact }: { listId: string; contact: Contact }) {
  const accountId = useAccountId();
  const may = useMay();
  const refresh = useRefresh('lists');
  const change = useDialog();
  if (!may('contacts:write')) return null;
  const resourcePath = '/accounts/{accountId}/lists/{listId}/contacts/{email}';
  const path = { accountId, listId, email: contact.email };
  return (
    <Group gap={4} wrap="nowrap">
      <Button size="compact-sm" variant="subtle" onClick={change.open}>
        {text('change')}
      </Button>
      <UndoButton
        name={contact.email}
        remove={async () => {
          await deleteUnchanged(resourcePath, path, { fields: contact.fields });
          await refresh();
        }}
        restore={async () => {
          await createNew('email', resourcePath, path, { fields: contact.fields });
          await refresh();
        }}
      />
      <ContactDialog {...change.props} listId={listId} contact={contact} />
    </Group>
  );
}

interface ContactDialogProps {
  close: () => void;
  listId: string;
  contact?: Contact;
}

type EditedContact = Pick<Contact, 'email' | 'fields'>;

const contactPath = '/accounts/{accountId}/lists/{listId}/contacts/{email}';
const blankRow: FieldRow = { name: '', value: '' };

/** Creates a contact or edits its fields. */
const ContactDialog = dialogOf(ContactForm, ({ contact }) =>
  text(contact === undefined ? 'contacts.add' : 'contacts.change'),
);

function ContactForm({ listId, close, ...props }: ContactDialogProps) {
  const accountId = useAccountId();
  const { values, change, stored, dialog } = useForm({
    stored: props.contact as EditedContact | undefined,
    toValues: (contact) => ({
      email: contact?.email ?? '',
      rows: contact === undefined ? [blankRow] : rowsOf(contact.fields),
    }),
    save({ values, stored: contact }) {
      const params = { accountId, listId, email: values.email.trim() };
      const body = { fields: fieldsIn(values.rows) };
      return contact === undefined
        ? createNew('email', contactPath, params, body)
        : putUnchanged(contactPath, params, { fields: contact.fields }, body);
    },
    reload: useRefresh('lists'),
  });

  return (
    <DialogForm close={close} action={text('save')} {...dialog}>
      {(error) => (
        <>
          <Field
            field="email"
            label={text('contacts.email')}
            type="email"
            required
            disabled={stored !== undefined}
            value={values.email}
            change={(email) => change({ email })}
            error={error}
            data-autofocus
          />
          <Input.Wrapper
            labelElement="div"
            label={text('contacts.fields')}
            error={reasonFor(error, 'fields')}
          >
            <EditedRows
              rows={values.rows}
              change={(rows) => change({ rows })}
              blank={blankRow}
              add={text('contacts.addField')}
              remove={(number) => text('contacts.removeField', { number })}
            >
              {({ name, value }, set, number) => (
                <>
                  <TextInput
                    flex={1}
                    aria-label={text('contacts.fieldName', { number })}
                    placeholder={text('contacts.namePlaceholder')}
                    value={name}
                    onChange={(event) => set({ name: event.currentTarget.value })}
                  />
                  <Textarea
                    flex={2}
                    aria-label={text('contacts.fieldValue', { number })}
                    autosize
                    minRows={1}
                    value={value}
                    onChange={(event) => set({ value: event.currentTarget.value })}
                  />
                </>
              )}
            </EditedRows>
          </Input.Wrapper>
        </>
      )}
    </DialogForm>
  );
}
