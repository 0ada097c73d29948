import { Button, FileInput, Group, Stack, Text } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { ListedFileImport } from '../api/management.generated.ts';
import { newUuid } from '../api/new-uuid.ts';
import { useAction } from '../api/use-action.ts';
import { dialogOf } from '../components/dialog-of.tsx';
import { showNotice } from '../components/notices.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { formatNumber } from '../format/format-number.ts';
import { text } from '../texts/text.ts';

interface ImportDialogProps {
  close: () => void;
  title: string;
  /** The required format of the file. */
  hint: string;
  /** If given, this stopped import is continued. */
  continued?: ListedFileImport | undefined;
  /** Uploads the file. */
  send: (importId: string, file: File) => Promise<unknown>;
}

/**
 * Uploads a CSV file. The import itself is shown on the page, so the dialog can be closed at any time; only an upload needs the
 * page to stay open.
 */
export const ImportDialog = dialogOf(ImportForm, ({ title }) => title);

function ImportForm({ close, hint, continued, send }: ImportDialogProps) {
  const [file, setFile] = useState<File | null>(null);
  const upload = useAction({
    mutationFn: (chosen: File) => send(continued?.id ?? newUuid(), chosen),
    onSuccess: close,
    // Also seen if the dialog was closed meanwhile.
    onError: () => showNotice(text('import.uploadFailed')),
  });

  function submit(event: FormEvent) {
    event.preventDefault();
    if (file !== null) upload.mutate(file);
  }

  return (
    <form onSubmit={submit}>
      <Stack>
        {continued !== undefined && (
          <Text size="sm">
            {text('import.continueHint', { rows: formatNumber(continued.rowsRead) })}
          </Text>
        )}
        <FileInput
          label={continued?.name ?? text('import.file')}
          description={continued === undefined ? hint : undefined}
          placeholder={text('import.choose')}
          accept=".csv,.tsv,.txt,text/csv"
          required
          value={file}
          onChange={setFile}
        />
        <ProblemAlert error={upload.error} onRefreshed={close} />
        {upload.isPending && (
          <Text size="sm" role="status">
            {text('import.uploading')}
          </Text>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {text('close')}
          </Button>
          <Button type="submit" disabled={file === null} loading={upload.isPending}>
            {text(continued === undefined ? 'import.start' : 'import.continue')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
