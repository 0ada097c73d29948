import '../destination/destination-texts.ts';
import { Badge, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ServiceProcess } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { PageHeading } from '../components/page-heading.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { Rows } from '../components/rows.tsx';
import { RowsSkeleton } from '../components/rows-skeleton.tsx';
import { TimeText } from '../components/time-text.tsx';
import { formatNumber } from '../format/format-number.ts';
import { text } from '../texts/text.ts';
import { SettingsTabs } from './settings-tabs.tsx';

/** For operators: the processes on all machines, with what they do and how busy they are. */
export function ProcessesPage() {
  const processes = useQuery({
    queryKey: ['processes'],
    queryFn: () => answerOf(api.GET('/installation/processes')),
    refetchInterval: 5_000,
  });
  return (
    <>
      <PageHeading title={text('settings.title')} hint={text('settings.hint')} />
      <SettingsTabs />
      <ProblemAlert error={processes.error} retry={() => processes.refetch()} />
      {processes.isPending && <RowsSkeleton />}
      {processes.data !== undefined && (
        <>
          <Text size="sm" fw={600} mb="sm">
            {text('processes.running', {
              running: processes.data.items.filter(({ state }) => state === 'running').length,
              all: processes.data.items.length,
            })}
          </Text>
          <Rows
            label={text('processes.title')}
            items={processes.data.items}
            idOf={({ id }) => id}
            columns={[
              {
                title: text('processes.host'),
                cell: (process) => <ProcessName process={process} />,
              },
              { title: text('processes.state'), cell: (process) => <ProcessState {...process} /> },
              {
                title: text('processes.since'),
                cell: ({ startedAt }) => <TimeText value={startedAt} distance />,
              },
              {
                title: text('processes.inFlight'),
                numeric: true,
                cell: ({ inFlight, state }) =>
                  state === 'vanished' ? '–' : formatNumber(inFlight),
              },
              {
                title: text('processes.delay'),
                numeric: true,
                cell: ({ delayMs }) => <Lag delayMs={delayMs} />,
              },
            ]}
          />
        </>
      )}
    </>
  );
}

function ProcessName({ process }: { process: ServiceProcess }) {
  return (
    <div>
      {process.host}
      <Text size="xs" c="dimmed" fw={400}>
        {text('processes.details', {
          pid: String(process.pid),
          version: process.version,
          roles: process.roles.join(', '),
        })}
      </Text>
    </div>
  );
}

/** From here on, requests and timers noticeably wait. */
const highDelayMs = 100;

/** How late the event loop is; null if the process doesn't respond. */
function Lag({ delayMs }: Pick<ServiceProcess, 'delayMs'>) {
  if (delayMs === null) return '–';
  return (
    <span
      title={text('processes.delayHint')}
      className={delayMs >= highDelayMs ? 'nowrap concerning' : 'nowrap'}
    >
      {text('processes.delayMs', { delay: formatNumber(delayMs) })}
    </span>
  );
}

function ProcessState({ state, seenAt }: Pick<ServiceProcess, 'state' | 'seenAt'>) {
  return (
    <div>
      <Badge
        className="state-badge"
        data-color={state === 'running' ? 'green' : 'red'}
        variant="light"
        tt="none"
      >
        {text(`processes.state.${state}`)}
      </Badge>
      {state === 'vanished' && (
        <Text size="xs" c="dimmed" className="nowrap">
          {text('processes.seen')} <TimeText value={seenAt} distance />
        </Text>
      )}
    </div>
  );
}
