import { Textarea } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import type { Contact } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { reasonFor } from '../api/problem.ts';
import { Field } from '../parts/field.tsx';
import { FormDialog } from '../parts/form-dialog.tsx';
import { text } from '../texts/text.ts';

interface ContactDialogProps {
  opened: boolean;
  close: () => void;
  listId: string;
  contact?: Contact;
}

/** Adds a contact, or changes its fields: one `name: value` a line. */
export function ContactDialog({ listId, contact, ...dialog }: ContactDialogProps) {
  const accountId = useAccountId();
  const client = useQueryClient();
  const [email, setEmail] = useState(contact?.email ?? '');
  const [lines, setLines] = useState(() => writeFields(contact?.fields ?? {}));

  async function submit() {
    await answerOf(
      api.PUT('/accounts/{accountId}/lists/{listId}/contacts/{email}', {
        params: { path: { accountId, listId, email } },
        body: { fields: readFields(lines) },
      }),
    );
    await client.invalidateQueries({ queryKey: ['contacts', accountId, listId] });
    await client.invalidateQueries({ queryKey: ['lists', accountId] });
  }

  return (
    <FormDialog
      {...dialog}
      title={text(contact === undefined ? 'contacts.add' : 'contacts.change')}
      action={text('save')}
      submit={submit}
    >
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
    </FormDialog>
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
