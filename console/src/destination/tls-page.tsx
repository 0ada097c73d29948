import './destination-texts.ts';
import { Group, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useSettings } from '../account/use-settings.ts';
import type { TlsDay } from '../api/management.generated.ts';
import { usePages } from '../api/pages.ts';
import { ListBody } from '../components/list-body.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import type { Column } from '../components/rows.tsx';
import { SearchField } from '../components/search-field.tsx';
import { formatNumber } from '../format/format-number.ts';
import { text, textOr } from '../texts/text.ts';
import { OnlyDirect } from './only-direct.tsx';

/** For operators: how TLS went, by domain and day, with reasons of failures. */
export function TlsPage() {
  const [typed, setTyped] = useState('');
  const [from, setFrom] = useState('');
  const [until, setUntil] = useState('');
  const [domain] = useDebouncedValue(typed.trim(), 300);
  const query = {
    ...(domain !== '' && { domain }),
    ...(from !== '' && { from }),
    ...(until !== '' && { until }),
  };
  const settings = useSettings();
  const delivery = settings.data?.delivery;
  const filtered = Object.keys(query).length > 0;
  const pages = usePages('/installation/tls-results', { query });
  const isEmpty = pages.items.length === 0 && !pages.isPlaceholderData && pages.error === null;
  return (
    <>
      <PageHeading title={text('nav.tls')} hint={text('encryption.hint')} />
      <ProblemAlert error={settings.error} retry={() => settings.refetch()} />
      {settings.data !== undefined && (filtered || !isEmpty) && (
        <Group component="search" mb="md" align="flex-end">
          <SearchField name={text('encryption.filter')} value={typed} change={setTyped} />
          <TextInput
            label={text('encryption.from')}
            type="date"
            value={from}
            onChange={(event) => setFrom(event.currentTarget.value)}
          />
          <TextInput
            label={text('encryption.until')}
            type="date"
            value={until}
            onChange={(event) => setUntil(event.currentTarget.value)}
          />
        </Group>
      )}
      {isEmpty && !filtered && delivery !== undefined && delivery !== 'direct' ? (
        <OnlyDirect delivery={delivery} what="destinations.tlsResults" />
      ) : (
        <ListBody
          label={text('nav.tls')}
          pages={{ ...pages, isPending: settings.isPending || pages.isPending }}
          idOf={({ day, domain: name, policyType }) => `${day} ${name} ${policyType}`}
          empty={{
            icon: 'destinations',
            title: text(filtered ? 'encryption.noneFound' : 'encryption.none'),
            hint: text(filtered ? 'encryption.noneFoundHint' : 'encryption.noneHint'),
          }}
          columns={columns}
        />
      )}
    </>
  );
}

const columns: readonly Column<TlsDay>[] = [
  { title: text('encryption.day'), cell: ({ day }) => day },
  { title: text('encryption.filter'), cell: ({ domain: name }) => name },
  {
    title: text('encryption.policy'),
    cell: ({ policyType }) => textOr(`encryption.policy.${policyType}`, policyType),
  },
  {
    title: text('encryption.success'),
    numeric: true,
    cell: ({ success }) => formatNumber(success),
  },
  {
    title: text('encryption.failed'),
    numeric: true,
    cell: ({ failed }) => formatNumber(failed),
  },
  {
    title: text('encryption.failures'),
    cell: ({ failures }) =>
      failures.map(({ type, host, sessions }) => (
        <Text size="xs" className="breakable" key={`${type} ${host}`}>
          {formatNumber(sessions)} × {textOr(`encryption.type.${type}`, type)}
          {host !== '' && ` · ${host}`}
        </Text>
      )),
  },
];
