import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import { api } from '../api/management.ts';
import { ImportDialog } from '../import/import-dialog.tsx';
import { ImportsPanel } from '../import/imports-panel.tsx';
import { text } from '../texts/text.ts';

/** Uploads a file into a list; its import then appears on the page. */
function useSendContacts(listId: string) {
  const accountId = useAccountId();
  const client = useQueryClient();
  return async (importId: string, file: File) => {
    await api.put(
      '/accounts/{accountId}/lists/{listId}/imports/{importId}',
      { accountId, listId, importId },
      file,
      { query: { name: file.name.slice(0, 200) } },
    );
    await client.invalidateQueries({ queryKey: ['contact-imports', accountId, listId] });
  };
}

/** Imports contacts into a list. */
export function ImportContactsDialog(props: {
  opened: boolean;
  close: () => void;
  listId: string;
}) {
  const { listId, ...dialog } = props;
  return (
    <ImportDialog
      {...dialog}
      title={text('contacts.importTitle')}
      hint={text('contacts.importHint')}
      send={useSendContacts(listId)}
    />
  );
}

interface ContactImportsProps {
  listId: string;
  /** Imports another file than one that failed. */
  chooseAnother: () => void;
}

/** The recent imports into a list. */
export function ContactImports({ listId, chooseAnother }: ContactImportsProps) {
  const accountId = useAccountId();
  const client = useQueryClient();
  const may = useMay();
  const send = useSendContacts(listId);
  const path = { accountId, listId };
  const done = useCallback(async () => {
    await client.invalidateQueries({ queryKey: ['contacts', accountId, listId] });
    await client.invalidateQueries({ queryKey: ['lists', accountId] });
  }, [client, accountId, listId]);
  return (
    <ImportsPanel
      queryKey={['contact-imports', accountId, listId]}
      read={() => api.get('/accounts/{accountId}/lists/{listId}/imports', path)}
      send={may('contacts:write') ? send : undefined}
      chooseAnother={chooseAnother}
      rejectedHref={(importId) =>
        `/manage/v1/accounts/${accountId}/lists/${listId}/imports/${importId}/rejected`
      }
      done={done}
    />
  );
}
