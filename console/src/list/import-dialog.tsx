import { Alert, Button, FileInput, Group, List, Modal, Progress, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import type { FileImport } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { formatNumber, formatShare } from '../format/format-number.ts';
import { ProblemAlert } from '../parts/problem-alert.tsx';
import { text } from '../texts/text.ts';

/** Imports a CSV file of any length and shows how far it is; closing the dialog stops nothing. */
export function ImportDialog(props: { opened: boolean; close: () => void; listId: string }) {
  const accountId = useAccountId();
  const client = useQueryClient();
  const [file, setFile] = useState<File | null>(null);
  const [importId, setImportId] = useState<string>();
  const path = { accountId, listId: props.listId };

  const send = useMutation({
    mutationFn: async (chosen: File) => {
      const id = crypto.randomUUID();
      await answerOf(
        api.PUT('/accounts/{accountId}/lists/{listId}/imports/{importId}', {
          params: { path: { ...path, importId: id } },
          // The browser reads the file while it sends it; its type says the rest.
          body: chosen as unknown as string,
          bodySerializer: (body) => body,
          headers: { 'content-type': 'text/csv' },
        }),
      );
      return id;
    },
    onSuccess: setImportId,
  });
  const progress = useQuery({
    queryKey: ['import', accountId, props.listId, importId],
    queryFn: async () => {
      const found = await answerOf(
        api.GET('/accounts/{accountId}/lists/{listId}/imports/{importId}', {
          params: { path: { ...path, importId: importId ?? '' } },
        }),
      );
      if (found.state !== 'running') {
        await client.invalidateQueries({ queryKey: ['contacts', accountId, props.listId] });
        await client.invalidateQueries({ queryKey: ['lists', accountId] });
      }
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
    <Modal opened={props.opened} onClose={props.close} title={text('contacts.importTitle')}>
      <form onSubmit={submit}>
        <Stack>
          <FileInput
            label={text('contacts.importFile')}
            description={text('contacts.importHint')}
            accept=".csv,text/csv"
            required
            value={file}
            onChange={setFile}
          />
          <ProblemAlert error={send.error ?? progress.error} />
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
              {text('contacts.importStart')}
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
          <Progress value={share} aria-label={text('contacts.importTitle')} />
          <Text size="sm">
            {text('contacts.importing', {
              share: formatShare(bytesRead, bytesTotal),
              rows: formatNumber(rowsRead),
            })}
          </Text>
        </>
      )}
      {state === 'done' && (
        <Alert color="green">
          {text('contacts.imported', {
            written: formatNumber(rowsWritten),
            wrong: formatNumber(rowsWrong),
          })}
        </Alert>
      )}
      {state === 'failed' && <Alert color="red">{text('contacts.importFailed')}</Alert>}
      {problems.length > 0 && (
        <List size="sm" mt="xs">
          {problems.slice(0, 10).map(({ line, reason }) => (
            <List.Item key={`${line} ${reason}`}>
              {text('editor.line', { line })}: {reason}
            </List.Item>
          ))}
        </List>
      )}
    </div>
  );
}
