import { Type } from 'typebox';
import { StsPolicyStore } from '../../delivery/mta-sts/sts-policy-store.ts';
import { makeTlsReport } from '../../delivery/tls-report/tls-report.ts';
import { type TlsDayCursor, TlsResultStore } from '../../delivery/tls-report/tls-result-store.ts';
import { strict } from '../../foundation/common-schemas.ts';
import { parseDomainName } from '../../foundation/domain-name.ts';
import { newId } from '../../foundation/ids.ts';
import { parseTimestamp } from '../../foundation/parse-timestamp.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, toPage } from '../answer/page.ts';
import { invalidField, notFound } from '../answer/problem.ts';
import { defineOperation, type OperationCall } from '../operation.ts';

const dayPattern = '^\\d{4}-\\d{2}-\\d{2}$';
const Day = (description: string) => Type.String({ description, pattern: dayPattern });

const TlsDayView = Type.Object(
  {
    day: Day('In UTC.'),
    domain: Type.String({ description: 'The recipients’ domain.' }),
    policyType: Type.Enum(['sts', 'no-policy-found'], {
      description: 'What sessions were held against: an MTA-STS policy, or nothing.',
    }),
    success: Type.Number({ description: 'Sessions.' }),
    failed: Type.Number({ description: 'Sessions.' }),
    failures: Type.Array(
      Type.Object(
        {
          type: Type.String({ description: 'A result type of RFC 8460 section 4.3.' }),
          host: Type.String({ description: 'The MX host; empty where it never came to one.' }),
          sessions: Type.Number(),
        },
        { ...strict, title: 'TlsFailure' },
      ),
      { description: 'Most sessions first.' },
    ),
  },
  { ...strict, title: 'TlsDay' },
);

const TlsReportView = Type.Object(
  {
    'organization-name': Type.String(),
    'date-range': Type.Object(
      { 'start-datetime': Type.String(), 'end-datetime': Type.String() },
      strict,
    ),
    'contact-info': Type.String(),
    'report-id': Type.String(),
    policies: Type.Array(
      Type.Object(
        {
          policy: Type.Object(
            {
              'policy-type': Type.String(),
              'policy-string': Type.Optional(Type.Array(Type.String())),
              'policy-domain': Type.String(),
              'mx-host': Type.Optional(Type.Array(Type.String())),
            },
            strict,
          ),
          summary: Type.Object(
            {
              'total-successful-session-count': Type.Number(),
              'total-failure-session-count': Type.Number(),
            },
            strict,
          ),
          'failure-details': Type.Array(
            Type.Object(
              {
                'result-type': Type.String(),
                'receiving-mx-hostname': Type.Optional(Type.String()),
                'failed-session-count': Type.Number(),
              },
              strict,
            ),
          ),
        },
        strict,
      ),
    ),
  },
  { ...strict, title: 'TlsReport' },
);

function tlsResultStoreOf({ dependencies }: Pick<OperationCall, 'dependencies'>): TlsResultStore {
  return new TlsResultStore(dependencies.database, newId());
}

/** @throws Problem for what looks like a day and is none, such as `2026-02-30` */
function readDay(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (parseTimestamp(`${text}T00:00:00Z`) === undefined)
    throw invalidField(name, 'is no day such as 2026-01-31');
  return text;
}

function readDomain(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const domain = parseDomainName(text);
  if (domain === undefined) throw invalidField('domain', 'is no domain');
  return domain;
}

function readPosition(call: OperationCall<{ readonly cursor?: string }>): TlsDayCursor | undefined {
  const [day, domain, policyType] = readCursor(call.query, 'text', 'text', 'text') ?? [];
  if (day === undefined || domain === undefined || policyType === undefined) return undefined;
  if (readDay('cursor', day) === undefined) return undefined;
  return { day, domain, policyType: policyType === 'sts' ? 'sts' : 'no-policy-found' };
}

export const listTlsResults = defineOperation({
  id: 'listTlsResults',
  summary: 'List how TLS went with the servers of recipients’ domains, by day, newest first',
  description:
    'Counted as RFC 8460 counts, where the service delivers by itself; each session once, within half a minute. Kept for 60 days.',
  query: pageQuery({
    domain: Type.Optional(Type.String({ description: 'Only this domain.', maxLength: 253 })),
    from: Type.Optional(Day('This day in UTC or later.')),
    until: Type.Optional(Day('This day in UTC or earlier.')),
  }),
  answer: pageOf(TlsDayView),
  async handle(call) {
    const limit = pageSizeOf(call.query);
    const filter = {
      domain: readDomain(call.query.domain),
      from: readDay('from', call.query.from),
      until: readDay('until', call.query.until),
    };
    const rows = await tlsResultStoreOf(call).list(filter, limit + 1, readPosition(call));
    return toPage(
      rows,
      limit,
      (row) => row,
      ({ day, domain, policyType }) => [day, domain, policyType],
    );
  },
});

export const getTlsReport = defineOperation({
  id: 'getTlsReport',
  summary: 'Read the TLS report of a day for a domain, as RFC 8460 section 4 writes it',
  query: Type.Object({ day: Day('In UTC.') }, strict),
  answer: TlsReportView,
  async handle(call) {
    const { dependencies, params } = call;
    const day = readDay('day', call.query.day) ?? '';
    const { domain } = params;
    const counts = await tlsResultStoreOf(call).list({ domain, from: day, until: day }, 2);
    if (counts.length === 0) throw notFound('report');
    const storedPolicy = await new StsPolicyStore(dependencies.database).read(domain);
    const organization = dependencies.facts.hostname ?? new URL(dependencies.publicUrl()).hostname;
    const reporter = { organization, contact: `postmaster@${organization}` };
    return makeTlsReport(day, domain, counts, storedPolicy?.policy, reporter);
  },
});
