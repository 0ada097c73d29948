import { Type } from 'typebox';
import { personOf } from '../../access/principal.ts';
import { SenderSchema } from '../../manifest/manifest-schema.ts';
import { readSender, readSenders, removeSender, type Sender } from '../../sender/sender-store.ts';
import { mayOperate } from '../access/admit-actor.ts';
import { limitOf, pageOf, pageQuery, readCursor, toPage } from '../answer/page.ts';
import { noSystemMail, notFound, Problem } from '../answer/problem.ts';
import { strict } from '../answer/schema-parts.ts';
import { applyPart } from '../apply-part.ts';
import {
  record,
  removeResource,
  requireResource,
  saveResource,
  type Transaction,
} from '../change-resource.ts';
import { accountOf, actorOf, type Call, endpoint } from '../endpoint.ts';

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

function senderChange(call: Call) {
  const { address } = call.params;
  return {
    kind: 'sender',
    id: address,
    async read(transaction: Transaction) {
      const sender = await readSender(transaction, accountOf(call).id, address);
      return sender && viewSender(sender);
    },
  };
}

export const listSenders = endpoint({
  id: 'listSenders',
  summary: 'List the senders of an account',
  query: pageQuery({}),
  answer: pageOf(SenderView),
  async handle(call) {
    const [after = ''] = readCursor(call.query, 'text') ?? [];
    const all = await readSenders(call.parts.database.kysely, accountOf(call).id);
    const rows = all.filter(({ address }) => address > after);
    return toPage(rows, limitOf(call.query), viewSender, ({ address }) => [address]);
  },
});

export const getSender = endpoint({
  id: 'getSender',
  summary: 'Read a sender',
  answer: SenderView,
  handle: (call) => requireResource(call, senderChange(call)),
});

export const putSender = endpoint({
  id: 'putSender',
  summary: 'Add a sender, or change its display names',
  description:
    'Only an operator of the installation can say that an address is verified. What is left out of one that exists stays as it is; a default is what a new one gets.',
  body: Type.Omit(SenderSchema, ['address'], strict),
  answer: SenderView,
  conditional: true,
  handle: (call) =>
    saveResource(call, {
      ...senderChange(call),
      async write(transaction, before) {
        const { verified = before?.verified ?? false } = call.body;
        if (verified && before?.verified !== true) await requireOperator(call);
        const sender = { ...call.body, address: call.params.address };
        await applyPart(call, transaction, { senders: [sender] });
      },
    }),
});

export const deleteSender = endpoint({
  id: 'deleteSender',
  summary: 'Remove a sender',
  conditional: true,
  handle: (call) =>
    removeResource(call, {
      ...senderChange(call),
      write: (transaction) => removeSender(transaction, accountOf(call).id, call.params.address),
    }),
});

export const mailSenderLink = endpoint({
  id: 'mailSenderLink',
  summary: 'Mail a link to a sender that verifies it',
  description:
    'Needs `SYSTEM_MAIL_FROM`, except where mail stays in the local inbox. The link works once and for a day; an earlier one ends.',
  answer: SenderView,
  async handle(call) {
    const { address } = call.params;
    const { id } = accountOf(call);
    const became = await call.parts.senderProofs.request(
      id,
      address,
      personOf(actorOf(call)),
      (transaction) => record(call, transaction, 'sender_link_sent', address),
    );
    if (became === 'unknown') throw notFound('sender');
    if (became === 'verified') throw new Problem('conflict', 'The sender is verified already');
    if (became === 'too-soon')
      throw new Problem('conflict', 'A link was mailed to the sender less than a minute ago');
    if (became === 'not-offered') throw new Problem('conflict', noSystemMail);
    return requireResource(call, senderChange(call));
  },
});

async function requireOperator(call: Call): Promise<void> {
  if (await mayOperate(call.parts, actorOf(call))) return;
  throw new Problem('forbidden', 'Only an operator can say that an address is verified');
}
