import { Box, Title } from '@mantine/core';
import { useMay } from '../account/use-me.ts';
import type { Message } from '../api/management.generated.ts';
import { useGet } from '../api/use-get.ts';
import { Facts } from '../components/facts.tsx';
import { Note } from '../components/note.tsx';
import { formatDistance, formatExactTime, formatToMinuteInZone } from '../format/format-time.ts';
import { waitOf } from '../message/message-states.ts';
import { text } from '../texts/text.ts';
import { ScheduleActions } from './schedule-actions.tsx';

/** The schedule of a message; undefined for other messages. */
function useSchedule(message: Message) {
  const may = useMay();
  const { messageId, content, state } = message;
  const isWaiting = state === 'queued' && waitOf(message) !== 'canceling';
  const isScheduled = may('queue:read') && typeof content?.sendAt === 'string' && isWaiting;
  const scheduled = useGet('/accounts/{accountId}/scheduled-messages', {
    query: { messageId },
    enabled: isScheduled,
    refetchInterval: 15_000,
  });
  return isScheduled ? scheduled.data?.items[0] : undefined;
}

/** The actions of a scheduled message; nothing for other messages. */
export function ScheduledActions({ message }: { message: Message }) {
  const may = useMay();
  const entry = useSchedule(message);
  return entry && <ScheduleActions message={entry} onPage={may('messages:control')} />;
}

/** The send time and deadline of a scheduled message; nothing for other messages. */
export function SchedulePanel({ message }: { message: Message }) {
  const entry = useSchedule(message);
  if (entry === undefined) return null;
  return (
    <Box component="section" aria-labelledby="schedule" mb="lg">
      <Title order={2} id="schedule" mb="xs">
        {text('schedule.panelTitle')}
      </Title>
      <Facts
        facts={[
          [text('schedule.sendAt'), <DueTime key="at" value={entry.sendAt} />],
          [
            text('schedule.deadline'),
            entry.deliverBefore === null ? (
              text('schedule.noDeadline')
            ) : (
              <DueTime key="deadline" value={entry.deliverBefore} />
            ),
          ],
        ]}
      />
    </Box>
  );
}

/** A time and how far ahead it is; unlike in tables, it may wrap. */
function DueTime({ value }: { value: string }) {
  return (
    <time dateTime={value} title={formatExactTime(value)}>
      {formatToMinuteInZone(value)}
      <Note>{formatDistance(value)}</Note>
    </time>
  );
}
