import { Type } from 'typebox';
import { personOf } from '../../../accounts/access/principal.ts';
import { readSenderDetails, removeSender } from '../../../accounts/sender/sender-store.ts';
import { verifySendersOfDomain } from '../../../accounts/sender/sender-verification-store.ts';
import {
  Flag,
  NamedObject,
  Nullable,
  strict,
  Text,
  Time,
} from '../../../base/values/common-schemas.ts';
import { domainOf, type EmailAddress } from '../../../base/values/email-address.ts';
import { applyEntry } from '../../manifest/apply-manifest.ts';
import { SenderSchema } from '../../manifest/manifest-schema.ts';
import { senderSection } from '../../manifest/resource-sections.ts';
import { findOperatorProblem } from '../access/admit-actor.ts';
import { conflict, noSystemMail, notFound } from '../answer/problem.ts';
import { actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { resourceOf, resourceRoutes } from '../resource-routes.ts';
import { entryScope, recordAudit, requireResource } from '../save-resource.ts';

const SenderView = NamedObject('Sender', {
  address: Type.String(),
  displayNames: Type.Array(Type.String(), {
    description: 'Allowed display names. The first is the default; `*` allows any.',
  }),
  verified: Flag('Only verified senders can send.'),
  verifiedBy: Nullable(
    Type.Enum(['domain', 'link', 'operator'], {
      description: 'How it was verified; `operator` also for manifests. Null: it isn’t.',
    }),
  ),
  sendingDomain: Nullable(
    Text('The domain of the account that signs its mail; null: none is set up.'),
  ),
  domainState: Nullable(
    Type.Enum(['pending', 'verified', 'broken'], {
      description: 'State of its sending domain; null: the domain isn’t set up.',
    }),
  ),
  linkExpiresAt: Nullable(
    Time('When the emailed verification link expires; null: none was sent, or it no longer works.'),
  ),
});

const senderOf = resourceOf({
  kind: 'sender',
  id: 'address',
  async read(transaction, { params: { accountId, address } }) {
    const [sender] = await readSenderDetails(transaction, accountId, { address });
    return sender;
  },
});

export const senderRoutes = resourceRoutes({
  path: '/accounts/:accountId/senders/:address',
  access: { read: 'senders:read', write: 'senders:write' },
  view: SenderView,
  resource: senderOf,
  list: {
    id: 'listSenders',
    summary: 'List senders',
    key: 'address',
    read: ({ kysely, params }, page) => readSenderDetails(kysely, params.accountId, page),
  },
  get: { id: 'getSender', summary: 'Get a sender' },
  put: {
    id: 'putSender',
    summary: 'Create or update a sender',
    description:
      'A sender of a verified domain is verified at once. Only operators can set `verified` to true. When updating, omitted members stay unchanged; defaults apply to new senders only.',
    body: Type.Omit(SenderSchema, ['address'], strict),
    size: 'values',
    write: (call) => async (transaction, before) => {
      const { verified = before?.verified ?? false } = call.body;
      if (verified && before?.verified !== true) {
        await requireOperator(call);
        await recordAudit(call, transaction, 'sender_marked_verified', call.params.address);
      }
      const sender = { ...call.body, address: call.params.address };
      await applyEntry(senderSection, sender, entryScope(call, transaction));
      const domain = domainOf(call.params.address as EmailAddress);
      if (call.body.verified === undefined)
        await verifySendersOfDomain(transaction, call.params.accountId, domain);
    },
  },
  remove: {
    id: 'deleteSender',
    summary: 'Delete a sender',
    write: (call) => (transaction) =>
      removeSender(transaction, call.params.accountId, call.params.address),
  },
});

export const mailSenderLink = defineOperation({
  id: 'mailSenderLink',
  summary: 'Email a verification link to a sender',
  description:
    'Requires `SYSTEM_MAIL_FROM`, unless mail is captured in the local inbox. The link works once, expires after 24 hours and replaces any earlier link.',
  answer: SenderView,
  async handle(call) {
    const { accountId: id, address } = call.params;
    const outcome = await call.dependencies.senderVerification.request(
      id,
      address,
      personOf(actorOf(call)),
      (transaction) => recordAudit(call, transaction, 'sender_link_sent', address),
    );
    if (outcome === 'unknown') throw notFound('sender');
    if (outcome === 'verified') throw conflict('The sender is already verified');
    if (outcome === 'too-soon')
      throw conflict('A link was sent less than a minute ago. Wait a minute and retry');
    if (outcome === 'not-offered') throw conflict(noSystemMail);
    return requireResource(call, senderOf(call));
  },
});

async function requireOperator(call: OperationCall): Promise<void> {
  const detail = 'Only operators can mark a sender as verified';
  const problem = await findOperatorProblem(call.dependencies, actorOf(call), detail);
  if (problem !== undefined) throw problem;
}
