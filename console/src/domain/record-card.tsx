import { Alert, Code, Group, Paper, Text, Title } from '@mantine/core';
import type { DomainRecord } from '../api/management.generated.ts';
import { CopyButton, CopyField } from '../components/copy-field.tsx';
import { Note } from '../components/note.tsx';
import { Tag } from '../components/tag.tsx';
import { text, textOr } from '../texts/text.ts';
import { type ProviderId, recordBoxes } from './record-boxes.ts';
import { withCode } from './with-code.tsx';
import './domain.css';

interface RecordCardProps {
  record: DomainRecord;
  /** Undefined: unknown. */
  provider: ProviderId | undefined;
  zone: string | undefined;
  /** The end of a name that some providers add. */
  ending: string;
}

const stateColors: Readonly<Record<string, string>> = {
  ok: 'green',
  missing: 'yellow',
  wrong: 'red',
};

/** A DNS record to publish: purpose, what to put into which box of the provider, and what was found. */
export function RecordCard({ record, provider, zone, ending }: RecordCardProps) {
  const { kind, name, type, required, why, state, found, explanation } = record;
  // Signs once its record is found; until then, another key does.
  const isNewKey = kind === 'dkim' && !required;
  const title = textOr(`domains.kind.${isNewKey ? 'dkim-new' : kind}`, kind);
  return (
    <Paper withBorder p="md" component="article" aria-label={title}>
      <Group gap="xs" mb={2}>
        <Title order={3}>{title}</Title>
        <Tag color={stateColors[state] ?? 'gray'}>{textOr(`domains.record.${state}`, state)}</Tag>
        {!required && !isNewKey && <Tag>{text('domains.optional')}</Tag>}
        {state === 'missing' && (
          <Note size="sm" className="breakable">
            {explanation ?? text('domains.notFound', { name })}
          </Note>
        )}
      </Group>
      {state === 'wrong' && (
        <Alert color="red" my="xs" p="xs">
          <Text size="sm" className="breakable">
            {explanation !== null && withCode(explanation)}
          </Text>
          {found.length > 0 && (
            <Group gap={6} mt={4}>
              <Text size="sm">{text('domains.found')}</Text>
              {found.map((value) => (
                <Code key={value} className="breakable">
                  {value}
                </Code>
              ))}
            </Group>
          )}
        </Alert>
      )}
      {state === 'wrong' && (
        <Text size="sm" fw={600} mt="sm">
          {text('domains.replace')}
        </Text>
      )}
      <dl className="record">
        <dt>{text('domains.type')}</dt>
        <dd>{type}</dd>
        {recordBoxes(record, provider, zone).map(({ label, value }) => (
          <Box
            key={label}
            label={text(label)}
            value={value}
            title={title}
            ending={provider === undefined && value === name ? ending : ''}
          />
        ))}
      </dl>
      <Note size="sm" mt="sm">
        {why} {textOr(`domains.recordHint.${provider}.${type}`, '')}
      </Note>
    </Paper>
  );
}

interface BoxProps {
  label: string;
  value: string;
  title: string;
  /** What can be left out; empty: nothing. */
  ending: string;
}

function Box({ label, value, title, ending }: BoxProps) {
  const canEndEarlier = ending !== '' && value.endsWith(ending);
  const host = canEndEarlier ? value.slice(0, -ending.length) : value;
  const isRoot = ending === `.${value}`;
  return (
    <>
      <dt>{label}</dt>
      <dd>
        {value === '' ? (
          <Note size="sm">{text('domains.box.empty')}</Note>
        ) : (
          <>
            <CopyField value={value} label={`${title}: ${label}`}>
              {host}
              {canEndEarlier && <span className="name-ending">{ending}</span>}
            </CopyField>
            {isRoot && (
              <CopyButton value="@" subtle>
                {text('domains.copyRoot')}
              </CopyButton>
            )}
            {canEndEarlier && (
              <CopyButton value={host} subtle>
                {text('domains.copyHost', { ending })}
              </CopyButton>
            )}
          </>
        )}
      </dd>
    </>
  );
}
