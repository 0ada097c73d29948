import { Note } from '../components/note.tsx';
import './settings-texts.ts';
import { Alert, Group, Text } from '@mantine/core';
import type { ServiceProcess } from '../api/management.generated.ts';
import { useGet } from '../api/use-get.ts';
import { ListBody } from '../components/list-body.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { Tag } from '../components/tag.tsx';
import { TimeText } from '../components/time-text.tsx';
import { withBreaks } from '../components/with-breaks.tsx';
import { formatNumber } from '../format/format-number.ts';
import { processesTexts } from '../texts/en/processes.en.ts';
import { addTexts, text } from '../texts/text.ts';

/** For operators: the processes on all machines, with what they do and how busy they are. */
export function ProcessesPage() {
  const processes = useGet('/installation/processes', { refetchInterval: 5_000 });
  const items = processes.data?.items ?? [];
  return (
    <>
      <PageHeading title={text('nav.processes')} />
      {items.length > 0 && <ProcessSummary processes={items} />}
      <ListBody
        label={text('nav.processes')}
        pages={{ ...processes, items }}
        empty={{ title: text('nav.processes'), hint: '' }}
        idOf={({ id }) => id}
        columns={[
          {
            title: text('processes.host'),
            cell: (process) => <ProcessName process={process} />,
          },
          { title: text('processes.state'), cell: (process) => <ProcessState {...process} /> },
          {
            title: text('processes.since'),
            cell: ({ startedAt }) => <TimeText value={startedAt} as="distance" />,
          },
          {
            title: text('processes.inFlight'),
            numeric: true,
            cell: ({ inFlight, state }) => (state === 'vanished' ? '–' : formatNumber(inFlight)),
          },
          {
            title: text('processes.delay'),
            numeric: true,
            cell: ({ delayMs }) => <Lag delayMs={delayMs} />,
          },
        ]}
      />
    </>
  );
}

/** How many run, and what happens to the work of those that don't respond. */
function ProcessSummary({ processes }: { processes: readonly ServiceProcess[] }) {
  const vanished = processes.filter(({ state }) => state === 'vanished').length;
  const hasWorker = processes.some(
    ({ state, roles }) => state === 'running' && roles.includes('worker'),
  );
  if (vanished > 0)
    return (
      <Alert
        color="yellow"
        mb="md"
        title={text('processes.vanished', { vanished, all: processes.length })}
      >
        {text(hasWorker ? 'processes.vanishedHint' : 'processes.noWorker')}
      </Alert>
    );
  return (
    <Group gap="xs" mb="sm">
      <Text size="sm" fw={600}>
        {text('processes.running', { running: processes.length })}
      </Text>
      <Note size="sm">{text('processes.live')}</Note>
    </Group>
  );
}

function ProcessName({ process }: { process: ServiceProcess }) {
  return (
    <div>
      {withBreaks(process.host)}
      <Note fw={400}>
        {text('processes.details', {
          pid: String(process.pid),
          version: process.version,
        })}
      </Note>
      <Group gap={4} mt={4} wrap="nowrap" aria-label={text('processes.roles')} role="group">
        {process.roles.map((role) => (
          <Tag key={role} size="sm">
            {role}
          </Tag>
        ))}
      </Group>
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
      <Tag color={state === 'running' ? 'green' : 'red'}>{text(`processes.state.${state}`)}</Tag>
      {state === 'vanished' && (
        <Note className="nowrap">
          {text('processes.seen')} <TimeText value={seenAt} as="distance" />
        </Note>
      )}
    </div>
  );
}

addTexts({ en: processesTexts });
