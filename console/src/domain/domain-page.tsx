import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { DomainRecord } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { CopyField } from '../parts/copy-field.tsx';
import { PageAnchor } from '../parts/links.tsx';
import { PageHeading } from '../parts/page-heading.tsx';
import { ProblemAlert } from '../parts/problem-alert.tsx';
import { RemoveButton } from '../parts/remove-button.tsx';
import { RowsSkeleton } from '../parts/rows.tsx';
import { TimeText } from '../parts/time-text.tsx';
import { text } from '../texts/text.ts';
import { DomainBadge } from './domains-page.tsx';
import { RecordBadge } from './record-badge.tsx';

/** One sending domain: the records to publish, and for each what was found, by whom, when. */
export function DomainPage() {
  const account = useAccountId();
  const { domain: name = '' } = useParams({ strict: false });
  const may = useMay();
  const client = useQueryClient();
  const navigate = useNavigate();
  const params = { path: { accountId: account, domain: name } };
  const key = ['domains', account, name];
  const domain = useQuery({
    queryKey: key,
    queryFn: () => answerOf(api.GET('/accounts/{accountId}/domains/{domain}', { params })),
  });
  const check = useMutation({
    mutationFn: () =>
      answerOf(api.POST('/accounts/{accountId}/domains/{domain}/check', { params })),
    onSuccess: (found) => client.setQueryData(key, found),
  });

  async function remove() {
    await answerOf(api.DELETE('/accounts/{accountId}/domains/{domain}', { params }));
    await client.invalidateQueries({ queryKey: ['domains', account] });
    await navigate({ to: '/$account/domains', params: { account } });
  }

  return (
    <>
      <PageAnchor to="/$account/domains" params={{ account }} size="sm">
        {text('domains.all')}
      </PageAnchor>
      <PageHeading title={name} hint={text('domains.publish')}>
        {domain.data !== undefined && <DomainBadge state={domain.data.state} />}
        {may('domains:write') && (
          <>
            <Button loading={check.isPending} onClick={() => check.mutate()}>
              {text('domains.check')}
            </Button>
            <RemoveButton
              title={text('domains.removeTitle')}
              consequence={text('domains.removeConsequence')}
              name={name}
              remove={remove}
            />
          </>
        )}
      </PageHeading>
      <ProblemAlert error={domain.error ?? check.error} />
      {domain.isPending && <RowsSkeleton />}
      <Stack>
        {domain.data?.records.map((record) => (
          <RecordCard key={`${record.kind} ${record.name} ${record.expected}`} record={record} />
        ))}
      </Stack>
    </>
  );
}

function RecordCard({ record }: { record: DomainRecord }) {
  const { kind, name, type, expected, required, why, state, found, explanation, resolver } = record;
  return (
    <Paper withBorder p="md" component="article">
      <Group gap="xs" mb={4}>
        <Title order={2}>{kind.toUpperCase()}</Title>
        <RecordBadge state={state} />
        {!required && (
          <Text size="xs" c="dimmed">
            {text('domains.optional')}
          </Text>
        )}
      </Group>
      <Text size="sm" mb="xs">
        {why}
      </Text>
      <Text size="xs" c="dimmed">
        {text('domains.name', { type })}
      </Text>
      <CopyField value={name} label={`${kind}: ${text('domains.nameOnly')}`} />
      <Text size="xs" c="dimmed" mt="xs">
        {text('domains.value')}
      </Text>
      <CopyField value={expected} label={`${kind}: ${text('domains.value')}`} />
      {state !== 'ok' && found.length > 0 && (
        <Text size="sm" mt="xs" className="breakable">
          {text('domains.found', { found: found.join(' · ') })}
        </Text>
      )}
      {explanation !== null && (
        <Text size="sm" mt="xs">
          {explanation}
        </Text>
      )}
      {record.checkedAt !== null && (
        <Text size="xs" c="dimmed" mt="xs">
          {text('domains.asked', { resolver: resolver ?? '' })}{' '}
          <TimeText value={record.checkedAt} distance />
        </Text>
      )}
    </Paper>
  );
}
