import { Type } from 'typebox';
import { personOf } from '../../access/principal.ts';
import { strict } from '../../foundation/common-schemas.ts';
import type { DatabaseTransaction } from '../../foundation/database/open-database.ts';
import { SenderSchema } from '../../manifest/manifest-schema.ts';
import { readSender, readSenders, removeSender, type Sender } from '../../sender/sender-store.ts';
import { canOperate } from '../access/admit-actor.ts';
import { noSystemMail, notFound, Problem } from '../answer/problem.ts';
import { applyManifestPart } from '../apply-manifest-part.ts';
import { accountOf, actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { recordAudit, requireResource } from '../save-resource.ts';

const SenderView = Type.Object(
  {
    address: Type.String(),
    displayNames: Type.Array(Type.String(), {
      description:
        'Names that may stand beside the address; the first is the default, `*` allows any.',
    }),
    verified: Type.Boolean({ description: 'Nothing can be sent from an address that is not.' }),
  },
  { ...strict, title: 'Sender' },
);

function viewSender({ address, displayNames, verified }: Sender) {
  return { address, displayNames: [...displayNames], verified };
}

function senderOf(call: OperationCall) {
  const { address } = call.params;
  return {
    kind: 'sender',
    id: address,
    async read(transaction: DatabaseTransaction) {
      const sender = await readSender(transaction, accountOf(call).id, address);
      return sender && viewSender(sender);
    },
  };
}

export const senderRoutes = resourceRoutes({
  path: '/accounts/:accountId/senders/:address',
  access: { read: 'senders:read', write: 'senders:write' },
  view: SenderView,
  resource: senderOf,
  list: {
    id: 'listSenders',
    summary: 'List the senders of an account',
    key: 'address',
    async read(call, { after }) {
      const all = await readSenders(call.dependencies.database.kysely, accountOf(call).id);
      return all.filter(({ address }) => address > after).map(viewSender);
    },
  },
  get: { id: 'getSender', summary: 'Read a sender' },
  put: {
    id: 'putSender',
    summary: 'Add a sender, or change its display names',
    description:
      'Only an operator of the installation can say that an address is verified. What is left out of one that exists stays as it is; a default is what a new one gets.',
    body: Type.Omit(SenderSchema, ['address'], strict),
    size: 'values',
    write: (call) => async (transaction, before) => {
      const { verified = before?.verified ?? false } = call.body;
      if (verified && before?.verified !== true) await requireOperator(call);
      const sender = { ...call.body, address: call.params.address };
      await applyManifestPart(call, transaction, { senders: [sender] });
    },
  },
  remove: {
    id: 'deleteSender',
    summary: 'Remove a sender',
    write: (call) => (transaction) =>
      removeSender(transaction, accountOf(call).id, call.params.address),
  },
});

export const mailSenderLink = defineOperation({
  id: 'mailSenderLink',
  summary: 'Mail a link to a sender that verifies it',
  description:
    'Needs `SYSTEM_MAIL_FROM`, except where mail stays in the local inbox. The link works once and for a day; an earlier one ends.',
  answer: SenderView,
  async handle(call) {
    const { address } = call.params;
    const { id } = accountOf(call);
    const outcome = await call.dependencies.senderVerification.request(
      id,
      address,
      personOf(actorOf(call)),
      (transaction) => recordAudit(call, transaction, 'sender_link_sent', address),
    );
    if (outcome === 'unknown') throw notFound('sender');
    if (outcome === 'verified') throw new Problem('conflict', 'The sender is verified already');
    if (outcome === 'too-soon')
      throw new Problem('conflict', 'A link was mailed to the sender less than a minute ago');
    if (outcome === 'not-offered') throw new Problem('conflict', noSystemMail);
    return requireResource(call, senderOf(call));
  },
});

async function requireOperator(call: OperationCall): Promise<void> {
  if (await canOperate(call.dependencies, actorOf(call))) return;
  throw new Problem('forbidden', 'Only an operator can say that an address is verified');
}
