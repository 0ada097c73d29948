import { Type } from 'typebox';
import type { ComparableAddress } from '../../base/values/email-address.ts';
import { Fault, type FaultDetail } from '../../base/values/errors.ts';
import type { Suppression, SuppressionReason } from '../../content/suppression/suppression.ts';
import {
  readSuppressionRange,
  readSuppressions,
} from '../../content/suppression/suppression-store.ts';
import {
  type DropInAnswer,
  type DropInCall,
  DropInRefusal,
  type DropInRequest,
} from '../provider/drop-in.ts';
import { MemberTable, supported } from '../provider/members.ts';
import { readJson } from '../provider/send-messages.ts';
import {
  allowAddress,
  parseSuppressedAddress,
  suppressAddress,
} from '../provider/suppressed-addresses.ts';

/** A list of SendGrid's: the entries with one reason. */
interface SuppressionList {
  readonly name: 'bounces' | 'blocks' | 'spam_reports' | 'unsubscribes';
  readonly reason: SuppressionReason;
  /** For the documentation. */
  readonly what: string;
  /** What its entries have besides address and time. */
  readonly more: Readonly<Record<string, string>>;
}

const lists: readonly SuppressionList[] = [
  {
    name: 'bounces',
    reason: 'hard_bounce',
    what: 'addresses that bounced',
    // RFC 3463: permanent, of an undefined kind. The message's timeline has the reply.
    more: { reason: 'The address bounced permanently.', status: '5.0.0' },
  },
  {
    name: 'blocks',
    reason: 'manual',
    what: 'addresses that were suppressed by hand',
    more: { reason: 'The address was suppressed by hand.', status: '5.7.1' },
  },
  {
    name: 'spam_reports',
    reason: 'complaint',
    what: 'addresses that complained',
    more: { ip: '' },
  },
  { name: 'unsubscribes', reason: 'unsubscribe', what: 'addresses that unsubscribed', more: {} },
];

const globalPath = '/v3/asm/suppressions/global';
const maxAdded = 100;
const addedBytes = 64 * 1_024;
const addedMembers = new MemberTable({
  recipient_emails: supported(
    Type.Array(Type.String({ maxLength: 2_000 }), { maxItems: maxAdded }),
  ),
});

/** The calls for suppressed addresses. */
export const suppressionCalls: readonly DropInCall[] = [
  ...lists.flatMap((list) => callsOf(list)),
  {
    method: 'POST',
    path: globalPath,
    summary: `unsubscribe up to ${maxAdded} addresses`,
    permission: 'suppressions:write',
    bodyBytes: addedBytes,
    members: { '': addedMembers },
    answer: addGlobal,
  },
];

function callsOf(list: SuppressionList): DropInCall[] {
  const { name, reason, what } = list;
  const path = `/v3/suppression/${name}`;
  const isGlobal = name === 'unsubscribes';
  const one = `${isGlobal ? globalPath : path}/:email`;
  return [
    {
      method: 'GET',
      path,
      summary: `list ${what}, newest first`,
      permission: 'suppressions:read',
      query: ['start_time', 'end_time', 'limit', 'offset', 'email'],
      answer: (request) => readPage(request, list),
    },
    {
      method: 'GET',
      path: one,
      summary: `read one of the ${what}`,
      permission: 'suppressions:read',
      query: [],
      answer: async (request) => {
        const entries = await readOne(request, reason);
        const found = entries.map(({ address }) => ['recipient_email', address]);
        const body = isGlobal
          ? Object.fromEntries(found)
          : entries.map((entry) => view(entry, list));
        return { status: 200, body };
      },
    },
    {
      method: 'DELETE',
      path: one,
      summary: `remove one of the ${what}`,
      permission: 'suppressions:write',
      answer: (request) => remove(request, reason),
    },
  ];
}

function view({ address, createdAt }: Suppression, { more }: SuppressionList) {
  return { created: Math.floor(createdAt.getTime() / 1_000), email: address, ...more };
}

const maxPage = 500;
/** Skipping more would take long. */
const maxOffset = 100_000;
/** Of the year 9999. */
const maxSeconds = 253_402_300_799;

async function readPage(request: DropInRequest, list: SuppressionList): Promise<DropInAnswer> {
  const { services, admission, query } = request;
  const details: FaultDetail[] = [];
  const read = (name: string, min: number, max: number): number | undefined => {
    const text = query.get(name);
    if (text === null || text === '') return undefined;
    const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    details.push({ field: name, reason: `must be a number from ${min} to ${max}` });
    return undefined;
  };
  const [start, end] = [read('start_time', 0, maxSeconds), read('end_time', 0, maxSeconds)];
  const limit = read('limit', 1, maxPage) ?? maxPage;
  const offset = read('offset', 0, maxOffset) ?? 0;
  if (query.has('email'))
    details.push({ field: 'email', reason: 'isn’t supported; read the address by its path' });
  if (details.length > 0) throw new Fault('VALIDATION_FAILED', { details });
  const entries = await readSuppressionRange(services.database.kysely, admission.account.id, {
    reason: list.reason,
    from: start === undefined ? undefined : new Date(start * 1_000),
    // The second of the end belongs to it.
    until: end === undefined ? undefined : new Date((end + 1) * 1_000),
    limit,
    offset,
  });
  return { status: 200, body: entries.map((entry) => view(entry, list)) };
}

function addressOf({ params }: DropInRequest): ComparableAddress {
  return parseSuppressedAddress(params.email, 'email');
}

/** The entry of an address, unless it has expired. */
async function readOne(request: DropInRequest, reason: SuppressionReason): Promise<Suppression[]> {
  const { services, admission } = request;
  const { kysely } = services.database;
  const entries = await readSuppressions(kysely, admission.account.id, addressOf(request));
  const now = services.clock.now();
  return entries.filter(
    (entry) =>
      entry.reason === reason && (entry.expiresAt === null || entry.expiresAt.getTime() > now),
  );
}

async function remove(request: DropInRequest, reason: SuppressionReason): Promise<DropInAnswer> {
  if (!(await allowAddress(request, addressOf(request), reason)))
    throw new DropInRefusal('NOT_FOUND', 'The address isn’t on this list.');
  return { status: 204, body: undefined };
}

async function addGlobal(request: DropInRequest): Promise<DropInAnswer> {
  const { recipient_emails: given = [] } = addedMembers.read(readJson(request).value);
  if (given.length === 0)
    throw new Fault('VALIDATION_FAILED', {
      details: [{ field: 'recipient_emails', reason: 'is required' }],
    });
  const addresses = given.map((text, index) =>
    parseSuppressedAddress(text, `recipient_emails[${index}]`),
  );
  for (const address of new Set(addresses)) await suppressAddress(request, address, 'unsubscribe');
  return { status: 201, body: { recipient_emails: addresses } };
}
