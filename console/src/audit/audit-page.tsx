import { Badge, Code, Group, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useAccountId } from '../account/use-me.ts';
import type { AuditEvent } from '../api/management.generated.ts';
import { answerOf, api } from '../api/management.ts';
import { usePages } from '../api/pages.ts';
import { ListBody } from '../components/list-body.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { TimeText } from '../components/time-text.tsx';
import { text } from '../texts/text.ts';

/** The audit log of the account. */
export function AuditPage() {
  const accountId = useAccountId();
  const [typed, setTyped] = useState('');
  const [kind] = useDebouncedValue(typed.trim(), 300);
  const pages = usePages<AuditEvent>({
    queryKey: ['audit', accountId, kind],
    read: (cursor) =>
      answerOf(
        api.GET('/accounts/{accountId}/audit', {
          params: { path: { accountId }, query: { cursor, ...(kind !== '' && { kind }) } },
        }),
      ),
  });
  const kinds = [...new Set(pages.items.map((event) => event.kind))];
  return (
    <>
      <PageHeading title={text('audit.title')} hint={text('audit.hint')} />
      <Group component="search" mb="md">
        <TextInput
          label={text('audit.filter')}
          placeholder="sender_changed"
          list="audit-kinds"
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <datalist id="audit-kinds">
          {kinds.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      </Group>
      <ListBody
        label={text('audit.title')}
        pages={pages}
        idOf={({ id }) => id}
        empty={{
          icon: 'audit',
          title: text(kind === '' ? 'audit.none' : 'audit.noneFound'),
          hint: text(kind === '' ? 'audit.noneHint' : 'audit.noneFoundHint'),
        }}
        columns={[
          { title: text('audit.at'), cell: ({ at }) => <TimeText value={at} /> },
          {
            title: text('audit.kind'),
            cell: ({ kind: what, outcome }) => (
              <Group gap={6} wrap="nowrap">
                <Code>{what}</Code>
                {outcome !== 'success' && (
                  <Badge className="state-badge" data-color="red" tt="none">
                    {text('audit.refused')}
                  </Badge>
                )}
              </Group>
            ),
          },
          {
            title: text('audit.who'),
            cell: ({ email, clientId }) => email ?? clientId ?? text('audit.machine'),
          },
          { title: text('audit.from'), cell: ({ remoteAddress }) => remoteAddress },
          {
            title: text('audit.detail'),
            cell: ({ detail }) => (
              <Text size="xs" className="breakable">
                {Object.entries(detail)
                  .map(([name, value]) => `${name}: ${describe(value)}`)
                  .join(' · ')}
              </Text>
            ),
          },
        ]}
      />
    </>
  );
}

function describe(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
