import { type Static, Type } from 'typebox';
import {
  type AuditEntry,
  auditThings,
  readAuditPage,
} from '../../../accounts/audit/audit-page-store.ts';
import { addressHashKey, auditIdOf } from '../../../base/secrets/hash-address.ts';
import {
  NamedObject,
  Nullable,
  optional,
  StrictObject,
  Text,
  Time,
  TimeOrDay,
  Uuid,
} from '../../../base/values/common-schemas.ts';
import {
  comparableAddress,
  normalizeAddress,
  parseEmailAddress,
} from '../../../base/values/email-address.ts';
import type { AccountId } from '../../../base/values/ids.ts';
import { pageOf, pageQuery, pageSizeOf, readCursor, writeCursor } from '../answer/page.ts';
import { readOptionalTime } from '../answer/read-query.ts';
import { maxExported, sendPages } from '../answer/send-download.ts';
import { defineOperation, type OperationCall } from '../operation.ts';

const AuditView = NamedObject('AuditEvent', {
  id: Uuid,
  at: Time('When it happened.'),
  kind: Text('What happened, such as `sender_changed`.'),
  outcome: Type.String(),
  email: Nullable(Text('Who did it; null for API keys and the service itself.')),
  name: Nullable(Text('The name of that user.')),
  keyName: Nullable(Text('The name of the API key that did it, while it exists.')),
  clientId: Nullable(Type.String()),
  remoteAddress: Nullable(Type.String()),
  requestId: Nullable(Type.String()),
  detail: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    description:
      'What it concerned, depending on the kind. `changes` lists changed settings as `name`, `from` and `to`.',
  }),
});

const filters = optional({
  kind: Text('Only events of this kind.', { maxLength: 100 }),
  thing: Type.Enum([...auditThings], { description: 'Only events about objects of this type.' }),
  email: Text('Only events caused by this user.', { maxLength: 320 }),
  search: Text('Only events that contain all of these words, case-insensitive.', {
    maxLength: 200,
  }),
  from: TimeOrDay('At or after this time.'),
  until: TimeOrDay('Before this time.'),
});

const query = pageQuery(filters);
const exportQuery = StrictObject(filters);

function filterOf(
  call: OperationCall,
  { kind, thing, email, search, from, until }: Static<typeof exportQuery>,
) {
  return {
    kind,
    thing,
    email: email === undefined ? undefined : comparableAddress(email),
    words: wordsOf(call, search),
    from: readOptionalTime('from', from),
    until: readOptionalTime('until', until),
  };
}

const maxWords = 8;

/** The words of a search. The log names recipients by the hash of their address, so it finds them by that, too. */
function wordsOf(call: OperationCall, search = ''): string[][] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean).slice(0, maxWords);
  return words.map((word) => {
    const parsed = parseEmailAddress(word);
    if (!parsed.ok) return [word];
    const hashKey = addressHashKey(call.dependencies.key);
    return [word, auditIdOf(hashKey, normalizeAddress(parsed.address))];
  });
}

async function listEntries(
  call: OperationCall<Static<typeof query>>,
  accountId: AccountId | undefined,
) {
  const place = readCursor(call.query, ['time', 'uuid']);
  const { entries, next } = await readAuditPage(
    call.kysely,
    accountId,
    filterOf(call, call.query),
    {
      before: place && { at: place[0], id: place[1] },
      limit: pageSizeOf(call.query),
    },
  );
  return {
    items: entries.map(({ place: _, ...entry }) => entry),
    nextCursor: next === undefined ? null : writeCursor([next.at, next.id]),
  };
}

const shortPages =
  'A page can be short or empty even if more pages follow. Continue until `nextCursor` is null.';

export const listAuditEvents = defineOperation({
  id: 'listAuditEvents',
  summary: 'List audit events of an account, newest first',
  description: shortPages,
  query,
  answer: pageOf(AuditView),
  handle: (call) => listEntries(call, call.params.accountId),
});

export const listInstallationAuditEvents = defineOperation({
  id: 'listInstallationAuditEvents',
  summary: 'List audit events of the installation, newest first',
  description: `Sign-ins, password changes and operator actions that don’t belong to an account. ${shortPages}`,
  query,
  answer: pageOf(AuditView),
  handle: (call) => listEntries(call, undefined),
});

export const exportAuditEvents = defineOperation({
  id: 'exportAuditEvents',
  summary: 'Export audit events of an account as CSV, newest first',
  description: `The newest ${maxExported.toLocaleString('en-US')} events that match. Filter by time to export earlier ones.`,
  query: exportQuery,
  produces: 'text/csv',
  async handle(call) {
    const filter = filterOf(call, call.query);
    const { kysely, params } = call;
    await sendPages(call, 'audit.csv', exportedColumns, async (before: AuditPlace, limit) => {
      const page = await readAuditPage(kysely, params.accountId, filter, { before, limit });
      return { lines: page.entries, next: page.next };
    });
  },
});

type AuditPlace = Parameters<typeof readAuditPage>[3]['before'];

const exportedColumns: Readonly<Record<string, (entry: AuditEntry) => string | null>> = {
  at: (entry) => entry.at.toISOString(),
  kind: (entry) => entry.kind,
  outcome: (entry) => entry.outcome,
  email: (entry) => entry.email,
  name: (entry) => entry.name,
  api_key: (entry) => textOf(entry.detail.apiKey),
  client_id: (entry) => entry.clientId,
  remote_address: (entry) => entry.remoteAddress,
  request_id: (entry) => entry.requestId,
  thing: (entry) => textOf(entry.detail.id),
  detail: (entry) => JSON.stringify(entry.detail),
};

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
