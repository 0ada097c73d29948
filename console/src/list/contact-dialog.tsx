import { Modal, Textarea } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import { createNew, ifUnchanged } from '../api/if-unchanged.ts';
import type { Contact } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { reasonFor } from '../api/problem.ts';
import { Field } from '../components/field.tsx';
import { DialogForm } from '../components/form-dialog.tsx';
import { text } from '../texts/text.ts';

interface ContactDialogProps {
  opened: boolean;
  close: () => void;
  listId: string;
  contact?: Contact;
}

/** Creates a contact or edits its fields, one `name: value` per line. */
export function ContactDialog({ opened, ...form }: ContactDialogProps) {
  const title = text(form.contact === undefined ? 'contacts.add' : 'contacts.change');
  return (
    <Modal opened={opened} onClose={form.close} title={title}>
      <ContactForm {...form} />
    </Modal>
  );
}

function ContactForm({ listId, close, ...props }: Omit<ContactDialogProps, 'opened'>) {
  const accountId = useAccountId();
  const client = useQueryClient();
  // Edits the data shown when the dialog opened, even if the page reloads it.
  const [contact] = useState(props.contact);
  const [email, setEmail] = useState(contact?.email ?? '');
  const [lines, setLines] = useState(() => writeFields(contact?.fields ?? {}));

  async function submit() {
    const path = '/accounts/{accountId}/lists/{listId}/contacts/{email}';
    const params = { path: { accountId, listId, email: email.trim() } };
    const body = { fields: readFields(lines) };
    if (contact === undefined)
      await createNew('email', (precondition) => api.PUT(path, { params, body, ...precondition }));
    else
      await ifUnchanged(
        { fields: contact.fields },
        () => api.GET(path, { params }),
        (precondition) => api.PUT(path, { params, body, ...precondition }),
      );
    await client.invalidateQueries({ queryKey: ['contacts', accountId, listId] });
    await client.invalidateQueries({ queryKey: ['lists', accountId] });
  }

  return (
    <DialogForm close={close} action={text('save')} submit={submit}>
      {(error) => (
        <>
          <Field
            field="email"
            label={text('contacts.email')}
            type="email"
            required
            disabled={contact !== undefined}
            value={email}
            change={setEmail}
            error={error}
            data-autofocus
          />
          <Textarea
            label={text('contacts.fields')}
            description={text('contacts.fieldsHint')}
            minRows={4}
            autosize
            value={lines}
            onChange={(event) => setLines(event.currentTarget.value)}
            error={reasonFor(error, 'fields')}
          />
        </>
      )}
    </DialogForm>
  );
}

function writeFields(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

function readFields(lines: string): Record<string, string> {
  const fields: [string, string][] = [];
  for (const line of lines.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) fields.push([line.slice(0, colon).trim(), line.slice(colon + 1).trim()]);
  }
  return Object.fromEntries(fields);
}
