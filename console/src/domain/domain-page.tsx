import { Group, Progress, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useAccountId } from '../account/use-me.ts';
import type { DomainDetail } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { CopyButton } from '../components/copy-field.tsx';
import { PageAnchor } from '../components/links.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { RowsSkeleton } from '../components/rows.tsx';
import { TimeText } from '../components/time-text.tsx';
import { text } from '../texts/text.ts';
import { DomainActions } from './domain-actions.tsx';
import { DomainBadge } from './domain-badge.tsx';
import { DomainSettingsCard } from './domain-settings-card.tsx';
import { RecordCard } from './record-card.tsx';
import { WarmUpCard } from './warm-up-card.tsx';
import { zoneFile } from './zone-file.ts';

/** A sending domain with the records to publish and what was found for each. */
export function DomainPage() {
  const account = useAccountId();
  const { domain: name = '' } = useParams({ strict: false });
  const domain = useQuery({
    queryKey: ['domains', account, name],
    queryFn: () =>
      answerOf(
        api.GET('/accounts/{accountId}/domains/{domain}', {
          params: { path: { accountId: account, domain: name } },
        }),
      ),
    // Polls, because the service also checks the records on its own.
    refetchInterval: ({ state }) => (state.data?.state === 'verified' ? false : 10_000),
  });
  return (
    <>
      <PageAnchor to="/$account/domains" params={{ account }} size="sm">
        {text('domains.all')}
      </PageAnchor>
      <PageHeading title={name} hint={text('domains.publish')}>
        {domain.data !== undefined && <DomainActions domain={domain.data} />}
      </PageHeading>
      <ProblemAlert error={domain.error} retry={() => domain.refetch()} />
      {domain.isPending && <RowsSkeleton />}
      {domain.data !== undefined && (
        <Stack gap="lg">
          <VerificationProgress domain={domain.data} />
          <Records domain={domain.data} />
          <DomainSettingsCard domain={domain.data} />
          <WarmUpCard domain={domain.data} />
        </Stack>
      )}
    </>
  );
}

/** The progress of the verification. */
function VerificationProgress({ domain: { state, records, checkedAt } }: { domain: DomainDetail }) {
  const required = records.filter((record) => record.required);
  const found = required.filter((record) => record.state === 'ok').length;
  const resolver = records.find((record) => record.resolver !== null)?.resolver;
  return (
    <div>
      <Group gap="xs" mb={6}>
        <DomainBadge state={state} />
        <Text size="sm">{text('domains.progress', { found, all: required.length })}</Text>
        <Text size="sm" c="dimmed">
          {checkedAt === null ? (
            text('domains.neverChecked')
          ) : (
            <>
              {text('domains.asked', { resolver: resolver ?? '' })}{' '}
              <TimeText value={checkedAt} distance />
            </>
          )}
        </Text>
      </Group>
      <Progress
        value={required.length === 0 ? 0 : (found / required.length) * 100}
        aria-label={text('domains.records')}
      />
    </div>
  );
}

function Records({ domain: { records } }: { domain: DomainDetail }) {
  return (
    <section aria-labelledby="records">
      <Group justify="space-between" mb="sm">
        <Title order={2} id="records">
          {text('domains.records')}
        </Title>
        <CopyButton value={zoneFile(records)}>{text('domains.copyAll')}</CopyButton>
      </Group>
      <Stack gap="sm">
        {records.map((record) => (
          <RecordCard key={`${record.kind} ${record.name} ${record.expected}`} record={record} />
        ))}
      </Stack>
    </section>
  );
}
