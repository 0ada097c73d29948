import { Alert, Group, Paper, Text, Title } from '@mantine/core';
import type { DomainRecord } from '../api/management.generated.ts';
import { CopyField } from '../components/copy-field.tsx';
import { text, textOr } from '../texts/text.ts';
import { RecordBadge } from './record-badge.tsx';

/** A DNS record to publish: purpose, name and value to copy, and what was found. */
export function RecordCard({ record }: { record: DomainRecord }) {
  const { kind, name, type, expected, required, why, state, found, explanation } = record;
  const title = textOr(`domains.kind.${kind}`, kind);
  return (
    <Paper withBorder p="md" component="article" aria-label={title}>
      <Group gap="xs" mb={2}>
        <Title order={3}>{title}</Title>
        <RecordBadge state={state} />
        {!required && (
          <Text size="xs" c="dimmed">
            {text('domains.optional')}
          </Text>
        )}
      </Group>
      <Text size="sm" c="dimmed" mb="sm">
        {why}
      </Text>
      <dl className="record">
        <dt>{text('domains.type')}</dt>
        <dd>{type}</dd>
        <dt>{text('domains.name')}</dt>
        <dd>
          <CopyField value={name} label={`${title}: ${text('domains.name')}`} />
        </dd>
        <dt>{text('domains.value')}</dt>
        <dd>
          <CopyField value={expected} label={`${title}: ${text('domains.value')}`} />
        </dd>
      </dl>
      {(state === 'missing' || state === 'wrong') && (
        <Alert color={state === 'wrong' ? 'red' : 'yellow'} mt="sm" p="xs">
          {explanation !== null && <Text size="sm">{explanation}</Text>}
          {found.length > 0 && (
            <Text size="sm" className="breakable">
              {text('domains.found', { found: found.join(' · ') })}
            </Text>
          )}
        </Alert>
      )}
    </Paper>
  );
}
