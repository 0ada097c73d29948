import { choicesOf } from '../components/choices-of.ts';
import { Note } from '../components/note.tsx';
import './audit-texts.ts';
import { Box, Button, Group, NativeSelect, Text, TextInput } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import type { AuditEvent } from '../api/management.generated.ts';
import { usePages } from '../api/pages.ts';
import { useGet } from '../api/use-get.ts';
import { PageAnchor } from '../components/links.tsx';
import { ListBody } from '../components/list-body.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { SearchField, useTypedText } from '../components/search-field.tsx';
import { Tag } from '../components/tag.tsx';
import { TimeText } from '../components/time-text.tsx';
import { describeValue } from '../format/describe-value.ts';
import { formatDay } from '../format/format-time.ts';
import { text, textOr } from '../texts/text.ts';
import {
  type AuditFilters,
  auditPeriods,
  auditQuery,
  type FilteredThing,
  readAuditFilters,
  shownThings,
} from './audit-filters.ts';
import { changesOf, describeActor, otherDetails, predicateOf, thingOf } from './describe-event.ts';

const route = getRouteApi('/$account/audit');

/** The audit log of the account as sentences; filters are in the URL, so they can be shared. */
export function AuditPage() {
  const accountId = useAccountId();
  const readable = useMay()('audit:read');
  const filters = readAuditFilters(route.useSearch());
  const navigate = route.useNavigate();
  const query = auditQuery(filters);
  const pages = usePages('/accounts/{accountId}/audit', {
    query: () => auditQuery(filters),
    revision: filters,
  });
  const filtered = Object.keys(filters).length > 0;
  const file = new URLSearchParams(query as Record<string, string>);
  return (
    <>
      <PageHeading title={text('nav.audit')} hint={text('audit.hint')}>
        {readable && (
          <Button
            component="a"
            variant="default"
            href={`/manage/v1/accounts/${accountId}/audit-export?${file}`}
            download
          >
            {text('audit.export')}
          </Button>
        )}
      </PageHeading>
      {readable && (
        <AuditFilterBar
          filters={filters}
          change={(part) =>
            navigate({ search: readAuditFilters({ ...filters, ...part }), replace: true })
          }
        />
      )}
      <ListBody
        label={text('nav.audit')}
        pages={pages}
        idOf={({ id }) => id}
        headingOf={({ at }) => formatDay(at)}
        empty={{
          icon: 'audit',
          title: text(filtered ? 'audit.noneFound' : 'audit.none'),
          hint: text(filtered ? 'audit.noneFoundHint' : 'audit.noneHint'),
        }}
        columns={[
          { title: text('audit.event'), cell: (event) => <EventCell event={event} /> },
          {
            title: text('audit.from.address'),
            cell: ({ remoteAddress }) =>
              remoteAddress === 'command line' ? text('audit.commandLine') : remoteAddress,
          },
          { title: text('audit.at'), cell: ({ at }) => <TimeText value={at} as="clock" /> },
        ]}
      />
    </>
  );
}

function EventCell({ event }: { event: AuditEvent }) {
  const changes = changesOf(event);
  const others = otherDetails(event);
  return (
    <div className="breakable audit-event">
      <Group gap={8} component="span">
        <span title={event.email ?? undefined}>
          <strong>{describeActor(event)}</strong> <Predicate event={event} />
        </span>
        {event.outcome !== 'success' && <Tag color="red">{text('audit.refused')}</Tag>}
      </Group>
      {changes.map(({ name, from, to }) => (
        <Text key={name} size="sm">
          {textOr(`member.${name}`, name)}: <del>{describeValue(from)}</del> → {describeValue(to)}
        </Text>
      ))}
      {others.length > 0 && <Note>{others.join(' · ')}</Note>}
    </div>
  );
}

/** What was done, with the thing emphasized and linked where it has a page. */
function Predicate({ event }: { event: AuditEvent }) {
  const [before = '', after] = predicateOf(event).split('{what}');
  return (
    <>
      {before}
      {after !== undefined && <Thing event={event} />}
      {after}
    </>
  );
}

/** The pages of things, by how the kinds of their events begin. */
const thingPages = [
  ['template_', '/$account/templates/$template'],
  ['message_', '/$account/messages/$message'],
  ['webhook_', '/$account/webhooks/$webhook'],
  ['domain_', '/$account/domains/$domain'],
  ['list_', '/$account/lists/$list'],
  ['contacts_imported', '/$account/lists/$list'],
] as const;

function Thing({ event }: { event: AuditEvent }): ReactNode {
  const account = useAccountId();
  const what = thingOf(event);
  const { id } = event.detail;
  if (what === undefined) return null;
  if (typeof id !== 'string' || event.kind.endsWith('_removed')) return <strong>{what}</strong>;
  const to = thingPages.find(([kind]) => event.kind.startsWith(kind))?.[1];
  if (to === undefined) return <strong>{what}</strong>;
  const params = { account, template: id, message: id, webhook: id, domain: id, list: id };
  return (
    <PageAnchor to={to} params={params} underline="always">
      {what}
    </PageAnchor>
  );
}

interface AuditFilterBarProps {
  filters: AuditFilters;
  change: (filters: Partial<Record<keyof AuditFilters, string>>) => void;
}

const maxPeople = 500;

/** Fixed, so that nothing moves when the people are loaded. */
const selectWidth = { base: 'calc(50% - 5px)', xs: 146 };

/** Filters by free text, person, thing and period. */
function AuditFilterBar({ filters, change }: AuditFilterBarProps) {
  const may = useMay();
  const typed = useTypedText(filters.search ?? '', (search) => change({ search }));
  const [custom, setCustom] = useState(false);
  const isCustom = custom || filters.from !== undefined || filters.until !== undefined;
  const users = useGet('/accounts/{accountId}/users', {
    query: { limit: maxPeople },
    enabled: may('users:read'),
    staleTime: 60_000,
  });
  const people = (users.data?.items ?? []).map(({ email, name }) => ({
    value: email,
    label: name === '' ? email : `${name} (${email})`,
  }));
  // Someone who has left the account can still be chosen through a link.
  const { person } = filters;
  if (person !== undefined && people.every(({ value }) => value !== person))
    people.push({ value: person, label: person });

  return (
    <Box component="search" display="block" mb="md">
      <Group gap="xs" align="flex-end">
        <SearchField className="grow" name={text('audit.search')} maxLength={200} {...typed} />
        <NativeSelect
          aria-label={text('audit.person')}
          w={selectWidth}
          value={person ?? ''}
          onChange={(event) => change({ person: event.currentTarget.value })}
          data={[{ value: '', label: text('audit.anyone') }, ...people]}
        />
        <NativeSelect
          aria-label={text('audit.thing')}
          w={selectWidth}
          value={filters.thing ?? ''}
          onChange={(event) => change({ thing: event.currentTarget.value as FilteredThing })}
          data={[
            { value: '', label: text('audit.anything') },
            ...choicesOf(shownThings, (value) => text(`audit.thing.${value}`)),
          ]}
        />
        <NativeSelect
          aria-label={text('audit.at')}
          w={selectWidth}
          value={isCustom ? 'custom' : (filters.period ?? '')}
          onChange={(event) => {
            const { value } = event.currentTarget;
            setCustom(value === 'custom');
            change({ period: value === 'custom' ? '' : value, from: '', until: '' });
          }}
          data={[
            { value: '', label: text('messages.anyPeriod') },
            ...choicesOf(Object.keys(auditPeriods), (value) =>
              textOr(`messages.period.${value}`, value),
            ),
            { value: 'custom', label: text('audit.customPeriod') },
          ]}
        />
        {isCustom &&
          (['from', 'until'] as const).map((name) => (
            <TextInput
              key={name}
              type="date"
              label={text(`audit.${name}`)}
              value={filters[name] ?? ''}
              onChange={(event) => change({ [name]: event.currentTarget.value })}
            />
          ))}
      </Group>
      {Object.keys(filters).length > 0 && (
        <Group mt="xs">
          <Button
            className="clear-filters"
            variant="subtle"
            size="compact-sm"
            onClick={() => {
              setCustom(false);
              change({ search: '', person: '', thing: '', period: '', from: '', until: '' });
            }}
          >
            {text('messages.clear')}
          </Button>
        </Group>
      )}
    </Box>
  );
}
