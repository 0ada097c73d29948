import './outbox.css';
import { Alert, Stack, Text } from '@mantine/core';
import { useAccountId, useMay } from '../account/use-me.ts';
import { deleteUnchanged } from '../api/if-unchanged.ts';
import type { ListedOutboxSource } from '../api/management.generated.ts';
import { usePages } from '../api/pages.ts';
import { asSentence } from '../api/problem.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { AreaList } from '../components/area-list.tsx';
import { ConfirmByName } from '../components/confirm-by-name.tsx';
import { Note } from '../components/note.tsx';
import { RowMenu } from '../components/row-menu.tsx';
import { Tag } from '../components/tag.tsx';
import { useAddDialog } from '../components/use-add-dialog.tsx';
import { useDialog } from '../components/use-dialog.ts';
import { formatDuration, formatSize } from '../format/format-number.ts';
import { formatTime } from '../format/format-time.ts';
import { outboxesTexts } from '../texts/en/outboxes.en.ts';
import { addTexts, text } from '../texts/text.ts';
import { FailedRows } from './failed-rows.tsx';
import { OutboxDialog, outboxPath, seenOf } from './outbox-dialog.tsx';

addTexts({ en: outboxesTexts });

/** An idle table is looked at every few seconds. */
const usualLagSeconds = 10;

/** Tables of the account's own databases whose rows are sent. */
export function OutboxesPage() {
  const may = useMay();
  const { button: add, dialog } = useAddDialog(text('outboxes.add'), 'outbox:write');
  const pages = usePages('/accounts/{accountId}/outbox-sources', { refetchInterval: 5_000 });
  return (
    <AreaList
      area="outboxes"
      add={add}
      pages={pages}
      idOf={({ id }) => id}
      below={(source) =>
        (source.failingSince !== null || source.failedRows.length > 0) && (
          <Stack gap="sm" className="outbox-below">
            <Failure source={source} />
            {source.failedRows.length > 0 && <FailedRows source={source} />}
          </Stack>
        )
      }
      columns={[
        {
          title: text('outboxes.source'),
          cell: ({ id, table, server }) => (
            <div>
              {id}
              <Note className="breakable">{text('outboxes.in', { table, server })}</Note>
            </div>
          ),
        },
        { title: text('outboxes.state'), cell: (source) => <OutboxState source={source} /> },
        {
          title: text('outboxes.lag'),
          cell: ({ lagSeconds, failingSince }) =>
            lagSeconds <= usualLagSeconds && failingSince === null
              ? text('outboxes.upToDate')
              : formatDuration(lagSeconds * 1_000),
        },
        {
          title: text('outboxes.sent'),
          cell: ({ rowsLastMinute, rowsPerSecond }) => (
            <div>
              <span className="nowrap">
                {text('outboxes.perMinute', { count: rowsLastMinute })}
              </span>
              <Note>{text('outboxes.max', { rate: rowsPerSecond })}</Note>
            </div>
          ),
        },
        ...(may('outbox:write')
          ? [
              {
                title: text('actions'),
                actions: true,
                cell: (source: ListedOutboxSource) => <OutboxActions source={source} />,
              },
            ]
          : []),
      ]}
    >
      <OutboxDialog {...dialog} />
    </AreaList>
  );
}

function OutboxState({ source }: { source: ListedOutboxSource }) {
  const { failingSince, readAt, reading, slotBytes } = source;
  const state = failingSince !== null ? 'failing' : readAt === null ? 'unread' : 'working';
  const color = { failing: 'red', unread: 'gray', working: 'green' }[state];
  return (
    <div>
      <Tag color={color}>{text(`outboxes.${state}` as 'outboxes.working')}</Tag>
      {reading !== null && <Note>{text(`outboxes.${reading}`)}</Note>}
      {slotBytes !== null && slotBytes > 0 && (
        <Note>{text('outboxes.slot', { size: formatSize(slotBytes) })}</Note>
      )}
    </div>
  );
}

/** Why its table can't be read now. */
function Failure({ source }: { source: ListedOutboxSource }) {
  const { failingSince, failure, failureDetail } = source;
  if (failingSince === null) return null;
  const title = text('outboxes.failingTitle', {
    time: formatTime(failingSince),
    failure: failure ?? '',
  });
  return (
    <Alert color="red" title={title}>
      <Text size="sm" className="breakable">
        {asSentence(failureDetail ?? '')}
      </Text>
      <Note>{text('outboxes.failingHint')}</Note>
    </Alert>
  );
}

function OutboxActions({ source }: { source: ListedOutboxSource }) {
  const accountId = useAccountId();
  const refresh = useRefresh('outbox-sources');
  const change = useDialog();
  const removal = useDialog();
  const { id } = source;

  async function remove() {
    await deleteUnchanged(outboxPath, { accountId, sourceId: id }, seenOf(source));
    await refresh();
  }

  return (
    <>
      <RowMenu
        name={id}
        items={[
          { label: text('change'), choose: change.open },
          { label: text('remove'), color: 'red', choose: removal.open },
        ]}
      />
      <OutboxDialog {...change.props} source={source} />
      <ConfirmByName
        {...removal.props}
        title={text('outboxes.removeTitle')}
        consequence={text('outboxes.removeConsequence')}
        name={id}
        action={text('remove')}
        confirm={remove}
      />
    </>
  );
}
