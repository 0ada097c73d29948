import { Code, Group, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useAccountId } from '../account/use-me.ts';
import type { FailedRequest } from '../api/management.generated.ts';
import { usePages } from '../api/pages.ts';
import { CopyButton, CopyField } from '../components/copy-field.tsx';
import { PageAnchor, PageButton } from '../components/links.tsx';
import { ListBody } from '../components/list-body.tsx';
import { PageHeading } from '../components/page-heading.tsx';
import { Tag } from '../components/tag.tsx';
import { TimeText } from '../components/time-text.tsx';
import { formatDay } from '../format/format-time.ts';
import { requestTexts } from '../texts/en/requests.en.ts';
import { addTexts, text } from '../texts/text.ts';
import { type RequestFilter, readRequestFilter } from './request-filter.ts';

addTexts({ en: requestTexts });

const route = getRouteApi('/$account/requests');

/** What the API refused and why, for who writes the program that asked. */
export function RequestsPage() {
  const filter = readRequestFilter(route.useSearch());
  const pages = usePages('/accounts/{accountId}/failed-requests', {
    query: () => filter,
    revision: filter,
  });
  return (
    <>
      <PageHeading title={text('nav.requests')} hint={text('requests.hint')}>
        {Object.keys(filter).length > 0 && (
          <PageButton to="/$account/requests">{text('requests.all')}</PageButton>
        )}
      </PageHeading>
      <ListBody
        label={text('nav.requests')}
        pages={pages}
        idOf={({ id }) => id}
        headingOf={({ at }) => formatDay(at)}
        empty={{ icon: 'keys', title: text('requests.none'), hint: text('requests.noneHint') }}
        columns={[
          {
            title: text('requests.request'),
            cell: (request) => <RequestCell request={request} filter={filter} />,
          },
          {
            title: text('requests.caller'),
            cell: ({ clientId, clientName }) => (
              <FilterLink filter={{ ...filter, clientId }} name={clientName ?? clientId} />
            ),
          },
          { title: text('requests.at'), cell: ({ at }) => <TimeText value={at} as="clock" /> },
        ]}
      />
    </>
  );
}

function FilterLink({ filter, name }: { filter: RequestFilter; name: string }) {
  return (
    <PageAnchor
      className="breakable"
      to="/$account/requests"
      search={filter}
      title={text('requests.only', { what: name })}
    >
      {name}
    </PageAnchor>
  );
}

function RequestCell({ request, filter }: { request: FailedRequest; filter: RequestFilter }) {
  const account = useAccountId();
  const { id, method, route: pattern, status, error, details } = request;
  const curl = curlOf(request, account);
  return (
    <Stack gap={4}>
      <Group gap={8}>
        <Tag color={status < 500 ? 'yellow' : 'red'}>{status}</Tag>
        <FilterLink filter={{ ...filter, error }} name={error} />
        <Code className="breakable">
          {method} {pattern}
        </Code>
      </Group>
      {details.map(({ field, reason }) => (
        <Text key={`${field} ${reason}`} size="sm" className="breakable">
          {field !== '' && <strong>{field} </strong>}
          {reason}
        </Text>
      ))}
      <Group gap={8}>
        <CopyField value={id} label={text('requests.id')} short />
        {curl !== undefined && (
          <CopyButton value={curl} subtle>
            {text('requests.copyCurl')}
          </CopyButton>
        )}
      </Group>
    </Stack>
  );
}

const bearer = '-H "Authorization: Bearer $SIGNALPOST_API_KEY"';

/** Where a provider's API takes the key; undefined where requests are forms or signed, which take more than a command. */
const credentials: Readonly<Record<string, string | undefined>> = {
  postmark: '-H "X-Postmark-Server-Token: $SIGNALPOST_API_KEY"',
  mailgun: undefined,
  ses: undefined,
};

/** A command like the request, with placeholders for what isn't kept of it: parameters of the path, and the body. */
function curlOf(
  { method, route }: Pick<FailedRequest, 'method' | 'route'>,
  account: string,
): string | undefined {
  const [, first = ''] = route.split('/');
  const credential = Object.hasOwn(credentials, first) ? credentials[first] : bearer;
  if (credential === undefined || route.endsWith('*')) return undefined;
  const path = route
    .replace(':accountId', account)
    .replaceAll(/:(\w+)/g, (_, name: string) => name.replace(/[A-Z]/g, '_$&').toUpperCase());
  const verb = method === 'HEAD' ? '--head' : `-X ${method}`;
  const lines = [`curl ${verb} "${location.origin}${path}"`, credential];
  if (['POST', 'PUT', 'PATCH'].includes(method))
    lines.push('-H "Content-Type: application/json"', "-d '{}'");
  return lines.join(' \\\n  ');
}
