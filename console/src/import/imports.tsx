import { Anchor, Button, Group, List, Paper, Progress, Stack, Text, Title } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { ListedFileImport } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { keyOf, useGet } from '../api/use-get.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { Note } from '../components/note.tsx';
import { Tag } from '../components/tag.tsx';
import { TimeText } from '../components/time-text.tsx';
import type { useDialog } from '../components/use-dialog.ts';
import { formatNumber, formatShare } from '../format/format-number.ts';
import { text } from '../texts/text.ts';
import { ImportDialog } from './import-dialog.tsx';

interface ImportsProps {
  /** The state of the dialog that starts one. */
  dialog: ReturnType<typeof useDialog>;
  title: string;
  /** The required format of the file. */
  hint: string;
  /** The list that is imported into; undefined: the suppressions. */
  listId?: string;
}

const listKeys = ['lists'] as const;
const suppressionKeys = ['suppressions', 'suppressions-imports'] as const;

const shownAtFirst = 3;
const shownMs = 7 * 86_400_000;

/** The imports of the last week into a list or the suppressions, which go on without the page. */
export function Imports({ dialog, title, hint, listId = '' }: ImportsProps) {
  const accountId = useAccountId();
  const may = useMay();
  const isList = listId !== '';
  const path = isList
    ? '/accounts/{accountId}/lists/{listId}/imports'
    : '/accounts/{accountId}/suppressions-imports';
  const params = { accountId, listId };
  const mayImport = may(isList ? 'contacts:write' : 'suppressions:write');
  const refresh = useRefresh(...(isList ? listKeys : suppressionKeys));
  const [all, setAll] = useState(false);
  const [continued, setContinued] = useState<ListedFileImport>();
  const imports = useGet(path, {
    params,
    refetchInterval: ({ state }) => (state.data?.items.some(isRunning) ? 1_000 : false),
  });

  async function send(importId: string, file: File) {
    const query = { name: file.name.slice(0, 200) };
    await api.put(`${path}/{importId}`, { ...params, importId }, file, { query });
    await refresh();
  }

  const items = (imports.data?.items ?? []).filter(
    ({ changedAt }) => Date.now() - Date.parse(changedAt) < shownMs,
  );
  const ended = imports.data?.items
    .filter((item) => !isRunning(item))
    .map(({ id, state }) => `${id} ${state}`)
    .join();
  // A short import has ended before it was ever seen running.
  const lastEnded = useRef(ended);
  useEffect(() => {
    if (lastEnded.current !== undefined && lastEnded.current !== ended) void refresh();
    lastEnded.current = ended;
  }, [ended, refresh]);
  return (
    <>
      {items.length > 0 && (
        <section aria-label={text('import.title')}>
          <Title order={2} mb="xs">
            {text('import.title')}
          </Title>
          <Stack gap="xs" mb="lg">
            {items.slice(0, all ? items.length : shownAtFirst).map((item, index) => (
              <ImportRow
                key={item.id}
                item={item}
                isLatest={index === 0}
                rejectedHref={`/manage/v1/${keyOf(path, params).join('/')}/${item.id}/rejected`}
                onContinue={mayImport ? () => setContinued(item) : undefined}
                onChooseAnother={mayImport ? dialog.open : undefined}
              />
            ))}
            {!all && items.length > shownAtFirst && (
              <Anchor
                component="button"
                type="button"
                size="sm"
                ta="start"
                onClick={() => setAll(true)}
              >
                {text('import.showAll', { count: items.length })}
              </Anchor>
            )}
          </Stack>
        </section>
      )}
      <ImportDialog {...dialog.props} title={title} hint={hint} send={send} />
      <ImportDialog
        opened={continued !== undefined}
        close={() => setContinued(undefined)}
        title={text('import.continueTitle')}
        hint=""
        continued={continued}
        send={send}
      />
    </>
  );
}

function isRunning({ state }: ListedFileImport): boolean {
  return state === 'running';
}

const colors = {
  running: 'blue',
  done: 'green',
  partly: 'yellow',
  failed: 'red',
  stopped: 'yellow',
} as const;

interface ImportRowProps {
  item: ListedFileImport;
  isLatest: boolean;
  rejectedHref: string;
  onContinue: (() => void) | undefined;
  onChooseAnother: (() => void) | undefined;
}

function ImportRow(props: ImportRowProps) {
  const { item, isLatest, rejectedHref, onContinue, onChooseAnother } = props;
  const { name, state, bytesRead, bytesTotal, createdAt, rowsWrong } = item;
  const shown = state === 'done' && rowsWrong > 0 ? 'partly' : state;
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Text size="sm" fw={600} className="breakable">
            {name ?? text('import.unnamed')}
          </Text>
          <Tag color={colors[shown]}>{text(`import.state.${shown}`)}</Tag>
        </Group>
        <Note size="sm">
          <TimeText value={createdAt} />
        </Note>
      </Group>
      {state === 'running' && (
        <Progress
          mt={6}
          value={bytesTotal === 0 ? 100 : (bytesRead / bytesTotal) * 100}
          aria-label={text('import.progress')}
        />
      )}
      {/* A file that can't be read has no rows, and the problem says why. */}
      {(state !== 'failed' || item.rowsRead > 0) && (
        <Text size="sm" mt={4} role="status">
          {describe(item)}
        </Text>
      )}
      {/* Problems of earlier imports that are done are only in the download. */}
      {(isLatest || state !== 'done') && <Problems item={item} />}
      <Group gap="md" mt={item.rejectedRows > 0 || state !== 'done' ? 6 : 0}>
        {item.rejectedRows > 0 && (
          <Anchor size="sm" href={rejectedHref} download>
            {text('import.download', { count: item.rejectedRows })}
          </Anchor>
        )}
        {state === 'stopped' && onContinue !== undefined && (
          <Button size="compact-sm" variant="default" onClick={onContinue}>
            {text('import.continue')}
          </Button>
        )}
        {state === 'failed' && onChooseAnother !== undefined && (
          <Button size="compact-sm" variant="default" onClick={onChooseAnother}>
            {text('import.chooseAnother')}
          </Button>
        )}
      </Group>
    </Paper>
  );
}

function describe({
  state,
  bytesRead,
  bytesTotal,
  rowsRead,
  rowsWritten,
  rowsWrong,
  problems,
}: ListedFileImport): string {
  const share = formatShare(bytesRead, bytesTotal);
  if (state === 'running')
    return text('import.running', {
      share,
      rows: formatNumber(rowsRead),
    });
  const counts = text('import.done', { written: rowsWritten, wrong: rowsWrong });
  if (state !== 'stopped') return counts;
  // A process that is gone left no reason.
  const hasReason = problems.some(({ line }) => line === 0);
  return `${text(hasReason ? 'import.stopped' : 'import.interrupted', { share })} ${counts}`;
}

const shownProblems = 5;

/** The first problems, each with its line. */
function Problems({ item: { problems, rowsWrong } }: { item: ListedFileImport }) {
  if (problems.length === 0) return null;
  const shown = problems.slice(0, shownProblems);
  const more = rowsWrong - shown.filter(({ line }) => line > 0).length;
  // The problem of the whole file is alone.
  if (problems.length === 1 && problems[0]?.line === 0)
    return (
      <Text size="sm" mt={4} role="status">
        {problems[0].reason}.
      </Text>
    );
  return (
    <List size="sm" mt={4}>
      {shown.map(({ line, reason }) => (
        <List.Item key={`${line} ${reason}`}>
          {line === 0
            ? `${reason}.`
            : `${text('import.line', { line: formatNumber(line) })}: ${reason}.`}
        </List.Item>
      ))}
      {more > 0 && <List.Item>{text('import.more', { count: more })}</List.Item>}
    </List>
  );
}
