import { Input, Textarea, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useAccountId } from '../account/use-me.ts';
import { createNew, putUnchanged } from '../api/if-unchanged.ts';
import type { Contact } from '../api/management.generated.ts';
import { reasonFor } from '../api/problem.ts';
import { dialogOf } from '../components/dialog-of.tsx';
import { EditedRows } from '../components/edited-rows.tsx';
import { Field } from '../components/field.tsx';
import { DialogForm } from '../components/form-dialog.tsx';
import { useForm } from '../form/use-form.ts';
import { text } from '../texts/text.ts';
import { type FieldRow, fieldsIn, rowsOf } from './contact-fields.ts';

interface ContactDialogProps {
  close: () => void;
  listId: string;
  contact?: Contact;
}

type EditedContact = Pick<Contact, 'email' | 'fields'>;

const contactPath = '/accounts/{accountId}/lists/{listId}/contacts/{email}';
const blankRow: FieldRow = { name: '', value: '' };

/** Creates a contact or edits its fields. */
export const ContactDialog = dialogOf(ContactForm, ({ contact }) =>
  text(contact === undefined ? 'contacts.add' : 'contacts.change'),
);

function ContactForm({ listId, close, ...props }: ContactDialogProps) {
  const accountId = useAccountId();
  const client = useQueryClient();
  const { values, change, stored, edit, save } = useForm({
    stored: props.contact as EditedContact | undefined,
    toValues: (contact) => ({
      email: contact?.email ?? '',
      rows: contact === undefined ? [blankRow] : rowsOf(contact.fields),
    }),
    async save({ values, stored: contact }) {
      const params = { accountId, listId, email: values.email.trim() };
      const body = { fields: fieldsIn(values.rows) };
      const saved = await (contact === undefined
        ? createNew('email', contactPath, params, body)
        : putUnchanged(contactPath, params, { fields: contact.fields }, body));
      await client.invalidateQueries({ queryKey: ['contacts', accountId, listId] });
      await client.invalidateQueries({ queryKey: ['lists', accountId] });
      return saved;
    },
  });

  return (
    <DialogForm close={close} action={text('save')} submit={save} isChanged={edit.isChanged}>
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
