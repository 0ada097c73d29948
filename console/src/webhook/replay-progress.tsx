import { Progress, Text } from '@mantine/core';
import type { WebhookReplay } from '../api/management.generated.ts';
import { useGet } from '../api/use-get.ts';
import { formatTime } from '../format/format-time.ts';
import { text } from '../texts/text.ts';

function isRunning({ selectedAt, waiting }: WebhookReplay): boolean {
  return selectedAt === null || waiting > 0;
}

/** Completed replays are shown for an hour. */
function isOld({ createdAt }: WebhookReplay): boolean {
  return Date.now() - Date.parse(createdAt) > 3_600_000;
}

/** The progress of the latest replay of a period. */
export function ReplayProgress({ webhookId, paused }: { webhookId: string; paused: boolean }) {
  const replays = useGet('/accounts/{accountId}/webhooks/{webhookId}/replays', {
    params: { webhookId },
    refetchInterval: ({ state }) => (state.data?.items.some(isRunning) ? 1_000 : false),
  });
  const [latest] = replays.data?.items ?? [];
  if (latest === undefined || (!isRunning(latest) && isOld(latest))) return null;
  const { events, waiting, selectedAt, from, until } = latest;
  const period = { from: formatTime(from), until: formatTime(until) };
  const running = isRunning(latest);
  const share = events === 0 ? 0 : ((events - waiting) / events) * 100;
  return (
    <div className="replay" role="status">
      <Text size="sm">
        {text(running ? 'webhooks.replaying' : 'webhooks.replayed', period)}{' '}
        {selectedAt === null
          ? text('webhooks.selecting', { count: events })
          : running
            ? text(paused ? 'webhooks.waitsForResume' : 'webhooks.remaining', {
                count: waiting,
                all: events,
              })
            : text('webhooks.sentAgain', { count: events })}
      </Text>
      {running && (
        <Progress
          value={selectedAt === null ? 100 : share}
          animated={selectedAt === null}
          striped={selectedAt === null}
          aria-label={text('webhooks.replayProgress')}
        />
      )}
    </div>
  );
}
