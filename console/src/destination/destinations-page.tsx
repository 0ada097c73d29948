import { useDialog } from '../components/use-dialog.ts';
import '../domain/domain-texts.ts';
import './destination-texts.ts';
import { Button, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { Destination } from '../api/management.generated.ts';
import { api } from '../api/management.ts';
import { localProblem } from '../api/problem.ts';
import { useAction } from '../api/use-action.ts';
import { useGet } from '../api/use-get.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { ConfirmByName } from '../components/confirm-by-name.tsx';
import { Field } from '../components/field.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { ListBody } from '../components/list-body.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowMenu } from '../components/row-menu.tsx';
import { Tag } from '../components/tag.tsx';
import { TimeText } from '../components/time-text.tsx';
import { isDomainName } from '../domain/domain-name.ts';
import { formatAtLeast } from '../format/format-number.ts';
import { text } from '../texts/text.ts';

/** Where mail waits: the queue by destination, with pause, resume, retry and cancel. */
export function DestinationsPage() {
  const queue = useGet('/accounts/{accountId}/queue', { refetchInterval: 5_000 });
  const paused = queue.data?.paused ?? [];
  const waiting = queue.data?.destinations ?? [];
  const partial = queue.data?.partial === true;
  // Includes paused destinations without waiting mail, so they can be resumed.
  const idle = paused
    .filter((name) => waiting.every(({ destination }) => destination !== name))
    .map((destination) => ({
      destination,
      waiting: 0,
      held: 0,
      scheduled: 0,
      nextAttemptAt: null,
      reason: null,
    }));
  const rows: readonly Destination[] = [...waiting, ...idle];
  const isHeld = (destination: string) => paused.includes(destination) || paused.includes('*');
  return (
    <>
      <PageHeading title={text('nav.destinations')} hint={text('destinations.hint')}>
        <PauseDomain />
      </PageHeading>
      <ListBody
        label={text('nav.destinations')}
        pages={{ ...queue, items: rows }}
        empty={{
          icon: 'destinations',
          title: text('destinations.none'),
          hint: text('destinations.noneHint'),
        }}
        idOf={({ destination }) => destination}
        columns={[
          {
            title: text('destinations.domain'),
            cell: ({ destination }) => (
              <Group gap={6}>
                {/* The reason takes what is left. */}
                <Text span inherit display="inline-block" w="max-content" maw="30ch">
                  {destination === '*' ? text('destinations.all') : destination}
                </Text>
                {paused.includes(destination) && (
                  <Tag color="yellow">{text('destinations.paused')}</Tag>
                )}
              </Group>
            ),
          },
          {
            title: text('destinations.waiting'),
            numeric: true,
            cell: (row) => formatAtLeast(row.waiting, partial && row.waiting > 0),
          },
          {
            title: text('destinations.held'),
            numeric: true,
            cell: (row) => formatAtLeast(row.held, partial && row.held > 0),
          },
          {
            title: text('destinations.next'),
            // Paused mail is only checked again then, not attempted.
            cell: ({ destination, nextAttemptAt }) => {
              if (isHeld(destination)) return text('destinations.onResume');
              return nextAttemptAt !== null && <TimeText value={nextAttemptAt} as="distance" />;
            },
          },
          {
            title: text('destinations.reason'),
            // The badge says that a destination is paused itself.
            cell: ({ destination, reason }) => {
              if (paused.includes(destination)) return null;
              return isHeld(destination) ? text('destinations.allPaused') : reason;
            },
          },
          {
            title: text('actions'),
            actions: true,
            cell: (row) => (
              <DestinationActions
                row={row}
                partial={partial}
                paused={paused.includes(row.destination)}
                held={isHeld(row.destination)}
              />
            ),
          },
        ]}
      />
    </>
  );
}

function usePause() {
  const accountId = useAccountId();
  const refresh = useRefresh('queue');
  return useAction({
    mutationFn: async ({ destination, pause }: { destination: string; pause: boolean }) => {
      if (destination !== '*' && !isDomainName(destination))
        throw localProblem('destination', text('domains.invalidName'));
      const path = '/accounts/{accountId}/queue/pauses/{destination}';
      const params = { accountId, destination };
      await (pause ? api.put(path, params) : api.delete(path, params));
    },
    onSuccess: refresh,
  });
}

/** Pauses mail to any domain, even if none is queued. */
function PauseDomain() {
  const may = useMay();
  const dialog = useDialog();
  const [destination, setDestination] = useState('');
  const pause = usePause();
  if (!may('queue:control')) return null;
  return (
    <>
      <Button variant="default" onClick={dialog.open}>
        {text('destinations.pauseDomain')}
      </Button>
      <FormDialog
        {...dialog.props}
        title={text('destinations.pauseDomain')}
        action={text('destinations.pause')}
        submit={async () => {
          await pause.mutateAsync({ destination, pause: true });
          setDestination('');
        }}
      >
        <Field
          field="destination"
          label={text('destinations.domain')}
          description={text('destinations.pauseHint')}
          placeholder="example.com"
          required
          value={destination}
          change={setDestination}
          data-autofocus
        />
      </FormDialog>
    </>
  );
}

interface DestinationActionsProps {
  row: Destination;
  partial: boolean;
  paused: boolean;
  /** Paused, or all destinations are. */
  held: boolean;
}

function DestinationActions({ row, partial, paused, held }: DestinationActionsProps) {
  const accountId = useAccountId();
  const may = useMay();
  const refresh = useRefresh('queue');
  const pause = usePause();
  const { destination } = row;
  const body = destination === '*' ? {} : { destination };
  const params = { accountId };
  const cancelDialog = useDialog();
  const retry = useAction({
    mutationFn: () => api.post('/accounts/{accountId}/queue/retry', params, body),
    onSuccess: refresh,
  });
  if (!may('queue:control')) return null;
  return (
    <Group gap={4} wrap="nowrap">
      <Button
        size="compact-sm"
        variant="subtle"
        onClick={() => pause.mutate({ destination, pause: !paused })}
      >
        {text(paused ? 'destinations.resume' : 'destinations.pause')}
      </Button>
      {row.waiting > 0 && (
        <>
          {/* A retry sends nothing to a paused destination. */}
          {!held && (partial || row.waiting > row.scheduled) && (
            <Button size="compact-sm" variant="subtle" onClick={() => retry.mutate()}>
              {text('destinations.retry')}
            </Button>
          )}
          <RowMenu
            name={destination === '*' ? text('destinations.all') : destination}
            items={[
              { label: text('destinations.cancel'), color: 'red', choose: cancelDialog.open },
            ]}
          />
          <ConfirmByName
            {...cancelDialog.props}
            dismiss={text('schedule.keepAll')}
            title={text('destinations.cancelTitle')}
            consequence={
              partial
                ? text('destinations.cancelMany', { count: formatAtLeast(row.waiting, true) })
                : text('destinations.cancelConsequence', { count: row.waiting })
            }
            name={destination}
            action={text('destinations.cancel')}
            confirm={async () => {
              await api.post('/accounts/{accountId}/queue/cancel', params, body);
              await refresh();
            }}
          />
        </>
      )}
      <ProblemAlert error={pause.error ?? retry.error} />
    </Group>
  );
}
