import { Type } from 'typebox';
import {
  Flag,
  NamedObject,
  Nullable,
  StrictObject,
  Text,
  Time,
  Uuid,
} from '../../../base/values/common-schemas.ts';
import type { InboxMessageId } from '../../../sending/inbox/inbox-message.ts';
import { canReadMailOfAccounts } from '../../../sending/inbox/inbox-reader-store.ts';
import type { InboxStore } from '../../../sending/inbox/inbox-store.ts';
import { showInlineImages } from '../../../sending/inbox/show-inline-images.ts';
import { canOperate } from '../access/admit-actor.ts';
import { definePages } from '../answer/list-operations.ts';
import { forbidden, notFound, Problem } from '../answer/problem.ts';
import { viewOf } from '../answer/view-of.ts';
import { actorOf, defineOperation, type OperationCall } from '../operation.ts';
import { inTransaction, recordAudit } from '../save-resource.ts';

const InboxSummaryView = NamedObject('InboxSummary', {
  id: Uuid,
  receivedAt: Time('When it was captured.'),
  envelopeFrom: Type.String(),
  envelopeTo: Type.Array(Type.String()),
  from: Nullable(Text('The From header, decoded.')),
  subject: Type.String(),
  beginning: Text('The beginning of the text.'),
});

/** The captured messages the caller may see; undefined if mail isn't captured, or the caller can't read that of every account. */
export async function readableInbox(call: OperationCall): Promise<InboxStore | undefined> {
  const { inbox } = call.dependencies;
  const actor = actorOf(call);
  if (inbox === undefined || (await canOperate(call.dependencies, actor))) return inbox;
  return (await canReadMailOfAccounts(call.kysely, actor)) ? inbox.ofAccounts() : undefined;
}

/** @throws Problem if the caller can't open the inbox */
async function inboxOf(call: OperationCall): Promise<InboxStore> {
  if (call.dependencies.inbox === undefined)
    throw new Problem('not-found', 'This installation doesn’t capture mail, so it has no inbox');
  const readable = await readableInbox(call);
  if (readable !== undefined) return readable;
  throw forbidden(
    'The inbox contains mail of all accounts. Only operators, and users who are owners or developers of every account, can open it',
  );
}

export const listInboxMessages = definePages({
  id: 'listInboxMessages',
  summary: 'List captured messages, newest first',
  description:
    'Available with DELIVERY=inbox. The inbox is shared by the whole installation, so only operators, and users who are owners or developers of every account, can open it. Only operators see system mail, such as password links.',
  filters: {
    search: Type.Optional(
      Text('Text to find in subject, addresses or body, case-insensitive.', { maxLength: 200 }),
    ),
  },
  item: InboxSummaryView,
  cursor: ['time', 'uuid'],
  async read(call, { after, limit }) {
    const place = after && { receivedAt: after[0], id: after[1] };
    return (await inboxOf(call)).listAfter(call.query.search ?? '', place, limit);
  },
  view: (message) => viewOf(InboxSummaryView)(message),
  place: ({ place, id }) => [place, id],
});

const InboxMessageView = NamedObject('InboxMessage', {
  id: Uuid,
  receivedAt: Time('When it was captured.'),
  envelopeFrom: Type.String(),
  envelopeTo: Type.Array(Type.String()),
  subject: Type.String(),
  headers: Type.Array(StrictObject({ name: Type.String(), value: Type.String() })),
  html: Nullable(Text('The HTML part, with its inline images as `data:` URLs.')),
  text: Nullable(Type.String()),
  unread: Flag(
    'Whether its parts couldn’t be read, so that there are only its headers and source.',
  ),
  source: Text('The raw message as received.'),
});

export const getInboxMessage = defineOperation({
  id: 'getInboxMessage',
  summary: 'Get a captured message',
  answer: InboxMessageView,
  async handle(call) {
    const message = await (await inboxOf(call)).read(call.params.inboxMessageId as InboxMessageId);
    if (message === undefined) throw notFound('message');
    return viewOf(InboxMessageView)({
      ...message,
      headers: message.headers.map(([name, value]) => ({ name, value })),
      html: await showInlineImages(message),
      source: message.source.toString('utf8'),
    });
  },
});

export const deleteInboxMessage = defineOperation({
  id: 'deleteInboxMessage',
  summary: 'Delete a captured message',
  async handle(call) {
    const inbox = await inboxOf(call);
    const { inboxMessageId } = call.params;
    return inTransaction(call, async (transaction) => {
      if (!(await inbox.removeOne(inboxMessageId as InboxMessageId, transaction)))
        throw notFound('message');
      await recordAudit(call, transaction, 'inbox_message_removed', inboxMessageId);
    });
  },
});

export const emptyInbox = defineOperation({
  id: 'emptyInbox',
  summary: 'Delete all captured messages',
  async handle(call) {
    const inbox = await inboxOf(call);
    return inTransaction(call, async (transaction) => {
      await inbox.remove({ to: undefined, since: undefined }, transaction);
      await recordAudit(call, transaction, 'inbox_emptied', 'inbox');
    });
  },
});
