import { useQueryClient } from '@tanstack/react-query';
import { useAccountId } from '../account/use-me.ts';
import { answerOf, api, csvFile } from '../api/management.ts';
import { ImportDialog } from '../components/import-dialog.tsx';
import { text } from '../texts/text.ts';

/** Imports contacts into a list. */
export function ImportContactsDialog(props: {
  opened: boolean;
  close: () => void;
  listId: string;
}) {
  const accountId = useAccountId();
  const client = useQueryClient();
  const { listId, ...dialog } = props;
  const path = '/accounts/{accountId}/lists/{listId}/imports/{importId}';
  const params = (importId: string) => ({ path: { accountId, listId, importId } });
  return (
    <ImportDialog
      {...dialog}
      title={text('contacts.importTitle')}
      hint={text('contacts.importHint')}
      send={(importId, body) =>
        answerOf(api.PUT(path, { params: params(importId), body, ...csvFile }))
      }
      read={(importId) => answerOf(api.GET(path, { params: params(importId) }))}
      done={async () => {
        await client.invalidateQueries({ queryKey: ['contacts', accountId, listId] });
        await client.invalidateQueries({ queryKey: ['lists', accountId] });
      }}
    />
  );
}
