import { Type } from 'typebox';
import { NamedObject, StrictObject, Text } from '../../../base/values/common-schemas.ts';
import { newId } from '../../../base/values/ids.ts';
import { parseDomainName } from '../../../base/values/mail-domain.ts';
import { parseTimestamp } from '../../../base/values/parse-timestamp.ts';
import { StsPolicyStore } from '../../../sending/delivery/mta-sts/sts-policy-store.ts';
import { makeTlsReport } from '../../../sending/delivery/tls-report/tls-report.ts';
import { TlsResultStore } from '../../../sending/delivery/tls-report/tls-result-store.ts';
import { definePages } from '../answer/list-operations.ts';
import { invalidField, notFound } from '../answer/problem.ts';
import { defineOperation, type OperationCall } from '../operation.ts';

const dayPattern = '^\\d{4}-\\d{2}-\\d{2}$';
const Day = (description: string) => Text(description, { pattern: dayPattern });

const TlsDayView = NamedObject('TlsDay', {
  day: Day('In UTC.'),
  domain: Text('The recipients’ domain.'),
  policyType: Type.Enum(['sts', 'no-policy-found'], {
    description: 'The policy applied: MTA-STS (`sts`) or none.',
  }),
  success: Type.Number({ description: 'Successful sessions.' }),
  failed: Type.Number({ description: 'Failed sessions.' }),
  failures: Type.Array(
    NamedObject('TlsFailure', {
      type: Text('A result type of RFC 8460 section 4.3.'),
      host: Text('The MX host; empty if none was reached.'),
      sessions: Type.Number(),
    }),
    { description: 'Most sessions first.' },
  ),
});

const TlsReportView = NamedObject('TlsReport', {
  'organization-name': Type.String(),
  'date-range': StrictObject({ 'start-datetime': Type.String(), 'end-datetime': Type.String() }),
  'contact-info': Type.String(),
  'report-id': Type.String(),
  policies: Type.Array(
    StrictObject({
      policy: StrictObject({
        'policy-type': Type.String(),
        'policy-string': Type.Optional(Type.Array(Type.String())),
        'policy-domain': Type.String(),
        'mx-host': Type.Optional(Type.Array(Type.String())),
      }),
      summary: StrictObject({
        'total-successful-session-count': Type.Number(),
        'total-failure-session-count': Type.Number(),
      }),
      'failure-details': Type.Array(
        StrictObject({
          'result-type': Type.String(),
          'receiving-mx-hostname': Type.Optional(Type.String()),
          'failed-session-count': Type.Number(),
        }),
      ),
    }),
  ),
});

function tlsResultStoreOf({ dependencies }: Pick<OperationCall, 'dependencies'>): TlsResultStore {
  return new TlsResultStore(dependencies.database, newId());
}

/** @throws Problem for an invalid calendar date such as `2026-02-30` */
function readDay(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (parseTimestamp(`${text}T00:00:00Z`) === undefined)
    throw invalidField(name, 'must be a date such as 2026-01-31');
  return text;
}

function readDomain(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const domain = parseDomainName(text);
  if (domain === undefined) throw invalidField('domain', 'must be a domain');
  return domain;
}

export const listTlsResults = definePages({
  id: 'listTlsResults',
  summary: 'List TLS results by day and recipient domain, newest first',
  description:
    'Counted as in RFC 8460, with DELIVERY=direct. Sessions appear within 30 seconds. Kept for 60 days.',
  filters: {
    domain: Type.Optional(Text('Only this domain.', { maxLength: 253 })),
    from: Type.Optional(Day('On or after this UTC day.')),
    until: Type.Optional(Day('On or before this UTC day.')),
  },
  item: TlsDayView,
  cursor: ['text', 'text', 'text'],
  async read(call, { after, limit }) {
    const filter = {
      domain: readDomain(call.query.domain),
      from: readDay('from', call.query.from),
      until: readDay('until', call.query.until),
    };
    const [day, domain, policyType] = after ?? [];
    readDay('cursor', day);
    return tlsResultStoreOf(call).list(
      filter,
      limit,
      day === undefined || domain === undefined
        ? undefined
        : {
            day,
            domain,
            policyType: policyType === 'sts' ? 'sts' : 'no-policy-found',
          },
    );
  },
  view: (row) => row,
  place: ({ day, domain, policyType }) => [day, domain, policyType],
});

export const getTlsReport = defineOperation({
  id: 'getTlsReport',
  summary: 'Get the TLS report for a domain and day (RFC 8460 section 4)',
  query: StrictObject({ day: Day('In UTC.') }),
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
