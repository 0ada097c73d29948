import { Button, Group, Text } from '@mantine/core';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { ListedOutboxSource } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { useAction } from '../api/use-action.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { Note } from '../components/note.tsx';
import { showNotice } from '../components/notices.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { TimeText } from '../components/time-text.tsx';
import { text } from '../texts/text.ts';
import { outboxPath } from './outbox-dialog.tsx';

/** As many as the API lists. */
const maxListed = 20;

/** The rows of an outbox that can't be sent, with their errors. */
export function FailedRows({
  source: { id: sourceId, failedRows },
}: {
  source: ListedOutboxSource;
}) {
  const accountId = useAccountId();
  const may = useMay();
  const refresh = useRefresh('outbox-sources');
  const retry = useAction({
    mutationFn: (ids: string[]) =>
      api.post(`${outboxPath}/retry`, { accountId, sourceId }, ids.length === 0 ? {} : { ids }),
    async onSuccess() {
      showNotice(text('outboxes.retrying'));
      await refresh();
    },
  });
  const mayRetry = may('outbox:write');
  return (
    <section className="failed-rows" aria-label={text('outboxes.failedOf', { name: sourceId })}>
      <Group justify="space-between" gap="4px md">
        <div>
          <Text size="sm" fw={600}>
            {text('outboxes.failedRows')}
          </Text>
          <Note>
            {text('outboxes.failedHint')}{' '}
            {failedRows.length >= maxListed && text('outboxes.latestFailed', { count: maxListed })}
          </Note>
        </div>
        {mayRetry && (
          <Button
            variant="default"
            size="compact-sm"
            loading={retry.isPending}
            onClick={() => retry.mutate([])}
          >
            {text('outboxes.retryAll')}
          </Button>
        )}
      </Group>
      <ProblemAlert error={retry.error} />
      <ul>
        {failedRows.map(({ id, errorName, detail, at }) => (
          <li key={id}>
            <div className="breakable">
              <Text size="sm" component="span" fw={600}>
                {text('outboxes.row', { id })}
              </Text>{' '}
              <code>{errorName}</code> <TimeText value={at} as="distance" />
              <Note size="sm">{detail}</Note>
            </div>
            {mayRetry && (
              <Button
                variant="subtle"
                size="compact-sm"
                aria-label={text('outboxes.retryRow', { id })}
                onClick={() => retry.mutate([id])}
              >
                {text('outboxes.retry')}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
