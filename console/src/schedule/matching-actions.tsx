import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import { api } from '../api/management.ts';
import { useAction } from '../api/use-action.ts';
import { Confirm } from '../components/confirm.tsx';
import { showNotice } from '../components/notices.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { formatAtLeast } from '../format/format-number.ts';
import { text } from '../texts/text.ts';
import { describeChange, useScheduleChanges } from './change-schedule.ts';
import { MoveDialog } from './move-dialog.tsx';
import { type ScheduleFilters, selectionOf } from './schedule-filters.ts';

/** Messages are counted page by page, so that a million of them isn't read for a confirmation. */
const pageSize = 500;
const maxPages = 10;

interface MatchCount {
  readonly count: number;
  /** There are more than counted. */
  readonly more: boolean;
}

interface Asked extends MatchCount {
  readonly action: 'move' | 'cancel';
}

interface MatchingActionsProps {
  filters: ScheduleFilters;
  /** The number of matching messages that are shown. */
  loaded: number;
  /** There are more than shown. */
  more: boolean;
}

/** Moves or cancels all messages that match the filter, if the person may. */
export function MatchingActions({ filters, ...shown }: MatchingActionsProps) {
  const accountId = useAccountId();
  const may = useMay();
  const { move, cancel } = useScheduleChanges();
  const [asked, setAsked] = useState<Asked>();
  const selection = selectionOf(filters);
  const ask = useAction({
    async mutationFn(action: Asked['action']) {
      setAsked({ action, ...(await countMatches(accountId, filters)) });
    },
  });
  if (!may('queue:control') || Object.keys(filters).length === 0) return null;
  const counts = { count: shown.loaded, shown: formatAtLeast(shown.loaded, shown.more) };
  const matches = text('schedule.matches', counts);
  if (selection === undefined)
    return (
      <div className="matching">
        <Text size="sm">
          {matches}.{' '}
          <Text span inherit c="dimmed">
            {text('schedule.oneFilter')}
          </Text>
        </Text>
      </div>
    );
  const close = () => setAsked(undefined);
  const { count = 0, more = false } = asked ?? {};
  const [[name, value] = ['tag', '']] = Object.entries(selection);
  const filter = text(name === 'tag' ? 'schedule.filter.tag' : 'schedule.filter.externalId', {
    value,
  });
  return (
    <>
      <Group gap="xs" className="matching">
        <Text size="sm" fw={500} mr="auto">
          {matches}
        </Text>
        <Button
          variant="default"
          size="compact-sm"
          loading={ask.isPending && ask.variables === 'move'}
          onClick={() => ask.mutate('move')}
        >
          {text('schedule.moveMatching', counts)}
        </Button>
        <Button
          variant="default"
          c="red"
          size="compact-sm"
          loading={ask.isPending && ask.variables === 'cancel'}
          onClick={() => ask.mutate('cancel')}
        >
          {text('schedule.cancelMatching', counts)}
        </Button>
      </Group>
      <ProblemAlert error={ask.error} />
      <MoveDialog
        opened={asked?.action === 'move'}
        close={close}
        title={text(more ? 'schedule.moveManyTitle' : 'schedule.moveAllTitle', { count })}
        sendAt=""
        move={async (time) => showNotice(describeChange('moved', await move(selection, time)))}
      />
      <Confirm
        opened={asked?.action === 'cancel'}
        close={close}
        title={text('schedule.cancelAllTitle')}
        consequence={text(
          more ? 'schedule.cancelManyConsequence' : 'schedule.cancelAllConsequence',
          { count, filter },
        )}
        action={text(more ? 'schedule.cancelManyAction' : 'schedule.cancelAllAction', { count })}
        dismiss={text('schedule.keepAll')}
        destructive
        confirm={async () => showNotice(describeChange('canceled', await cancel(selection)))}
      />
    </>
  );
}

async function countMatches(accountId: string, filters: ScheduleFilters): Promise<MatchCount> {
  let count = 0;
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const query = { ...filters, limit: pageSize, ...(cursor !== undefined && { cursor }) };
    const { items, nextCursor } = await api.get(
      '/accounts/{accountId}/scheduled-messages',
      { accountId },
      query,
    );
    count += items.length;
    if (nextCursor === null) return { count, more: false };
    cursor = nextCursor;
  }
  return { count, more: true };
}
