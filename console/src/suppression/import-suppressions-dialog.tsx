import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import { api } from '../api/management.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { ImportDialog } from '../import/import-dialog.tsx';
import { ImportsPanel } from '../import/imports-panel.tsx';
import { text } from '../texts/text.ts';

/** Uploads a file of suppressions; its import then appears on the page. */
function useSendSuppressions() {
  const accountId = useAccountId();
  const refresh = useRefresh('suppression-imports');
  return async (importId: string, file: File) => {
    await api.put(
      '/accounts/{accountId}/suppressions-imports/{importId}',
      { accountId, importId },
      file,
      { query: { name: file.name.slice(0, 200) } },
    );
    await refresh();
  };
}

/** Imports suppressions from a file. */
export function ImportSuppressionsDialog(dialog: { opened: boolean; close: () => void }) {
  return (
    <ImportDialog
      {...dialog}
      title={text('suppressions.importTitle')}
      hint={text('suppressions.importHint')}
      send={useSendSuppressions()}
    />
  );
}

/** The recent imports of suppressions. @param chooseAnother imports another file than one that failed */
export function SuppressionImports({ chooseAnother }: { chooseAnother: () => void }) {
  const accountId = useAccountId();
  const client = useQueryClient();
  const may = useMay();
  const send = useSendSuppressions();
  const done = useCallback(
    () => client.invalidateQueries({ queryKey: ['suppressions', accountId] }),
    [client, accountId],
  );
  return (
    <ImportsPanel
      queryKey={['suppression-imports', accountId]}
      read={() => api.get('/accounts/{accountId}/suppressions-imports', { accountId })}
      send={may('suppressions:write') ? send : undefined}
      chooseAnother={chooseAnother}
      rejectedHref={(importId) =>
        `/manage/v1/accounts/${accountId}/suppressions-imports/${importId}/rejected`
      }
      done={done}
    />
  );
}
