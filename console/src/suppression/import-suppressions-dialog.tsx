import { useQueryClient } from '@tanstack/react-query';
import { useAccountId } from '../account/use-me.ts';
import { answerOf, api, csvFile } from '../api/management.ts';
import { ImportDialog } from '../components/import-dialog.tsx';
import { text } from '../texts/text.ts';

/** Imports suppressions from a file. */
export function ImportSuppressionsDialog(dialog: { opened: boolean; close: () => void }) {
  const accountId = useAccountId();
  const client = useQueryClient();
  const path = '/accounts/{accountId}/suppressions-imports/{importId}';
  const params = (importId: string) => ({ path: { accountId, importId } });
  return (
    <ImportDialog
      {...dialog}
      title={text('suppressions.importTitle')}
      hint={text('suppressions.importHint')}
      send={(importId, body) =>
        answerOf(api.PUT(path, { params: params(importId), body, ...csvFile }))
      }
      read={(importId) => answerOf(api.GET(path, { params: params(importId) }))}
      done={() => client.invalidateQueries({ queryKey: ['suppressions', accountId] })}
    />
  );
}
