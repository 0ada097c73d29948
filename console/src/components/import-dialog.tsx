import { Alert, Button, FileInput, Group, List, Modal, Progress, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { FileImport } from '../api/management.generated.ts';
import { newUuid } from '../api/new-uuid.ts';
import { useAction } from '../api/use-action.ts';
import { formatNumber, formatShare } from '../format/format-number.ts';
import { text } from '../texts/text.ts';
import { ProblemAlert } from './problem-alert.tsx';

interface ImportDialogProps {
  opened: boolean;
  close: () => void;
  title: string;
  /** The required format of the file. */
  hint: string;
  /** Uploads the file under a new id. */
  send: (importId: string, file: string) => Promise<unknown>;
  /** Reads the progress. */
  read: (importId: string) => Promise<FileImport>;
  /** Called when the import is done. */
  done: () => Promise<unknown>;
}

/** Imports a CSV file and shows the progress; closing the dialog doesn't stop the import. */
export function ImportDialog(props: ImportDialogProps) {
  const [file, setFile] = useState<File | null>(null);
  const [importId, setImportId] = useState<string>();

  const send = useAction({
    mutationFn: async (chosen: File) => {
      const id = newUuid();
      // The browser streams the file.
      await props.send(id, chosen as unknown as string);
      return id;
    },
    onSuccess: setImportId,
  });
  const progress = useQuery({
    queryKey: ['import', importId],
    queryFn: async () => {
      const found = await props.read(importId ?? '');
      if (found.state !== 'running') await props.done();
      return found;
    },
    enabled: importId !== undefined,
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? 500 : false),
  });

  function submit(event: FormEvent) {
    event.preventDefault();
    setImportId(undefined);
    if (file !== null) send.mutate(file);
  }

  return (
    <Modal opened={props.opened} onClose={props.close} title={props.title}>
      <form onSubmit={submit}>
        <Stack>
          <FileInput
            label={text('import.file')}
            description={props.hint}
            placeholder={text('import.choose')}
            accept=".csv,text/csv"
            required
            value={file}
            onChange={setFile}
          />
          <ProblemAlert error={send.error ?? progress.error} onRefreshed={props.close} />
          {progress.data !== undefined && <ImportProgress progress={progress.data} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={props.close}>
              {text('close')}
            </Button>
            <Button
              type="submit"
              disabled={file === null}
              loading={send.isPending || progress.data?.state === 'running'}
            >
              {text('import.start')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function ImportProgress({ progress }: { progress: FileImport }) {
  const { state, bytesRead, bytesTotal, rowsRead, rowsWritten, rowsWrong, problems } = progress;
  const share = bytesTotal === 0 ? 100 : (bytesRead / bytesTotal) * 100;
  return (
    <div role="status">
      {state === 'running' && (
        <>
          <Progress value={share} aria-label={text('import.file')} />
          <Text size="sm">
            {text('import.running', {
              share: formatShare(bytesRead, bytesTotal),
              rows: formatNumber(rowsRead),
            })}
          </Text>
        </>
      )}
      {state === 'done' && (
        <Alert color="green">
          {text('import.done', {
            written: rowsWritten,
            wrong: rowsWrong,
          })}
        </Alert>
      )}
      {state === 'failed' && <Alert color="red">{text('import.failed')}</Alert>}
      {problems.length > 0 && (
        <List size="sm" mt="xs">
          {problems.slice(0, 10).map(({ line, reason }) => (
            <List.Item key={`${line} ${reason}`}>
              {line === 0 ? reason : `${text('editor.line', { line })}: ${reason}`}
            </List.Item>
          ))}
        </List>
      )}
    </div>
  );
}
