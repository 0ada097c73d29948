import { Type } from 'typebox';
import type { ComparableAddress } from '../../base/values/email-address.ts';
import { Fault } from '../../base/values/errors.ts';
import type { Suppression, SuppressionReason } from '../../content/suppression/suppression.ts';
import { findSuppressions, readSuppressions } from '../../content/suppression/suppression-store.ts';
import {
  type DropInAnswer,
  type DropInCall,
  DropInRefusal,
  type DropInRequest,
} from '../provider/drop-in.ts';
import { invalidMembers, MemberTable, mapped, supported } from '../provider/members.ts';
import { readJson } from '../provider/send-messages.ts';
import {
  allowAddress,
  parseSuppressedAddress,
  suppressAddress,
} from '../provider/suppressed-addresses.ts';
import { onlyStream } from './postmark-emails.ts';
import { get, okAnswer, parametersOf, rangeOf, times } from './postmark-reads.ts';

const maxAddresses = 50;
const maxDump = 10_000;
const path = '/message-streams/:stream/suppressions';
const Text = Type.String({ maxLength: 1_000 });

const wholeList = 'isn’t needed: the whole list is returned';
const dumpQuery = new MemberTable({
  count: mapped(Text, wholeList),
  offset: mapped(Text, wholeList),
  ...times,
  suppressionreason: mapped(
    Type.Enum(['HardBounce', 'SpamComplaint', 'ManualSuppression']),
    'counts addresses that unsubscribed as `ManualSuppression`',
  ),
  origin: mapped(Type.Enum(['Recipient', 'Customer', 'Admin']), 'is `Customer` for manual entries'),
  emailaddress: supported(Text),
});

const listMembers = new MemberTable({
  Suppressions: supported(
    Type.Array(Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object' }), {
      maxItems: maxAddresses,
    }),
  ),
});
const entryMembers = new MemberTable({ EmailAddress: supported(Text) });

const changes = {
  method: 'POST',
  permission: 'suppressions:write',
  bodyBytes: 32 * 1_024,
  query: [],
  members: { '': listMembers, 'Suppressions[]': entryMembers },
} as const;

/** The calls for the list of suppressed addresses. */
export const postmarkSuppressions: readonly DropInCall[] = [
  get(
    `${path}/dump`,
    'suppressions:read',
    `list suppressed addresses, newest first, if they aren’t more than ${maxDump}`,
    dump,
    dumpQuery,
  ),
  {
    ...changes,
    path,
    summary: `suppress up to ${maxAddresses} addresses, as \`manual\``,
    answer: (request) =>
      changeEach(request, 'Suppressed', (address) => suppressAddress(request, address, 'manual')),
  },
  {
    ...changes,
    path: `${path}/delete`,
    summary: `remove up to ${maxAddresses} addresses for all reasons, except those that complained`,
    answer: (request) => changeEach(request, 'Deleted', (address) => allow(request, address)),
  },
];

/** @throws Fault VALIDATION_FAILED */
function checkStream({ params }: DropInRequest): void {
  if (params.stream !== 'outbound') throw invalidMembers([{ field: 'stream', reason: onlyStream }]);
}

const reasons: Readonly<Record<SuppressionReason, readonly [reason: string, origin: string]>> = {
  hard_bounce: ['HardBounce', 'Recipient'],
  complaint: ['SpamComplaint', 'Recipient'],
  unsubscribe: ['ManualSuppression', 'Recipient'],
  manual: ['ManualSuppression', 'Customer'],
};

async function dump(request: DropInRequest): Promise<DropInAnswer> {
  checkStream(request);
  const { services, admission } = request;
  const given = parametersOf(request, dumpQuery);
  const { from, until } = rangeOf(given);
  const { kysely } = services.database;
  const accountId = admission.account.id;
  const { suppressionreason: reason, origin, emailaddress } = given;
  const found: readonly Suppression[] =
    emailaddress === undefined
      ? await findSuppressions(kysely, accountId, { limit: maxDump + 1 })
      : await readSuppressions(
          kysely,
          accountId,
          parseSuppressedAddress(emailaddress, 'emailaddress'),
        );
  if (found.length > maxDump)
    throw invalidMembers([
      {
        field: 'emailaddress',
        reason: `is required, because the list has more than ${maxDump} entries; export them with the management API`,
      },
    ]);
  const now = new Date(services.clock.now());
  const entries = found
    .filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
    .filter(({ createdAt }) => from === undefined || from <= createdAt)
    .filter(({ createdAt }) => until === undefined || createdAt < until)
    .map((entry) => {
      const [SuppressionReason, Origin] = reasons[entry.reason];
      const CreatedAt = entry.createdAt.toISOString();
      return { EmailAddress: entry.address, SuppressionReason, Origin, CreatedAt };
    })
    .filter((entry) => reason === undefined || entry.SuppressionReason === reason)
    .filter((entry) => origin === undefined || entry.Origin === origin);
  return okAnswer({ Suppressions: entries });
}

/** Changes each address of the body; each has a result of its own. */
async function changeEach(
  request: DropInRequest,
  Status: 'Suppressed' | 'Deleted',
  change: (address: ComparableAddress) => Promise<unknown>,
): Promise<DropInAnswer> {
  checkStream(request);
  const { Suppressions: given } = listMembers.read(readJson(request).value);
  if (given === undefined) throw invalidMembers([{ field: 'Suppressions', reason: 'is required' }]);
  const addresses = given.map((entry, index) =>
    entryMembers.read(entry, `Suppressions[${index}].`),
  );
  const results: object[] = [];
  for (const { EmailAddress } of addresses)
    try {
      await change(parseSuppressedAddress(EmailAddress, 'EmailAddress'));
      results.push({ EmailAddress, Status, Message: null });
    } catch (error) {
      results.push({ EmailAddress, Status: 'Failed', Message: reasonOf(error) });
    }
  return okAnswer({ Suppressions: results });
}

/** @throws what isn't about the address */
function reasonOf(error: unknown): string {
  if (error instanceof DropInRefusal) return error.message;
  const [detail] = error instanceof Fault ? error.details : [];
  if (detail === undefined) throw error;
  return `${detail.field} ${detail.reason}.`;
}

async function allow(request: DropInRequest, address: ComparableAddress): Promise<void> {
  const { services, admission } = request;
  const { kysely } = services.database;
  const entries = await readSuppressions(kysely, admission.account.id, address);
  if (entries.some(({ reason }) => reason === 'complaint'))
    throw new DropInRefusal('CONFLICT', 'A recipient who complained can’t be reactivated here.');
  await allowAddress(request, address);
}
