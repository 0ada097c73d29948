import { type Static, Type } from 'typebox';
import { readAuditPage } from '../../audit/audit-page-store.ts';
import { Nullable, strict, Time, TimeOrDay, Uuid } from '../../foundation/common-schemas.ts';
import type { AccountId } from '../../foundation/ids.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, toPage } from '../answer/page.ts';
import { readOptionalTime } from '../answer/read-time.ts';
import { accountOf, defineOperation, type OperationCall } from '../operation.ts';

const AuditView = Type.Object(
  {
    id: Uuid,
    at: Time('When it happened.'),
    kind: Type.String({ description: 'What happened, such as `sender_changed`.' }),
    outcome: Type.String(),
    email: Nullable(
      Type.String({ description: 'Who did it; null for API keys and the service itself.' }),
    ),
    clientId: Nullable(Type.String()),
    remoteAddress: Nullable(Type.String()),
    requestId: Nullable(Type.String()),
    detail: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
  },
  { ...strict, title: 'AuditEvent' },
);

const query = pageQuery({
  kind: Type.Optional(Type.String({ description: 'Only events of this kind.', maxLength: 100 })),
  email: Type.Optional(
    Type.String({ description: 'Only events caused by this user.', maxLength: 320 }),
  ),
  from: Type.Optional(TimeOrDay('At or after this time.')),
  until: Type.Optional(TimeOrDay('Before this time.')),
});

async function readAuditEntries(
  call: OperationCall<Static<typeof query>>,
  accountId: AccountId | undefined,
) {
  const limit = pageSizeOf(call.query);
  const [at, id] = readCursor(call.query, 'time', 'uuid') ?? [];
  const { kind, email, from, until } = call.query;
  const rows = await readAuditPage(
    call.dependencies.database.kysely,
    accountId,
    {
      kind,
      email: email?.toLowerCase(),
      from: readOptionalTime('from', from),
      until: readOptionalTime('until', until),
    },
    {
      before: at === undefined || id === undefined ? undefined : { at, id },
      limit: limit + 1,
    },
  );
  return toPage(
    rows,
    limit,
    ({ place: _, ...row }) => row,
    ({ place, id: last }) => [place, last],
  );
}

export const listAuditEvents = defineOperation({
  id: 'listAuditEvents',
  summary: 'List audit events of an account, newest first',
  query,
  answer: pageOf(AuditView),
  handle: (call) => readAuditEntries(call, accountOf(call).id),
});

export const listInstallationAuditEvents = defineOperation({
  id: 'listInstallationAuditEvents',
  summary: 'List audit events of the installation, newest first',
  description: 'Sign-ins, password changes and operator actions that don’t belong to an account.',
  query,
  answer: pageOf(AuditView),
  handle: (call) => readAuditEntries(call, undefined),
});
