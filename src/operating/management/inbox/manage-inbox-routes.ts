import { Readable } from 'node:stream';
import { Type } from 'typebox';
import type { Access } from '../../../accounts/access/permission.ts';
import {
  Flag,
  NamedObject,
  Nullable,
  OptionalText,
  StrictObject,
  Text,
  Time,
  Uuid,
  Whole,
} from '../../../base/values/common-schemas.ts';
import type { CapturedMessage, InboxMessageId } from '../../../sending/inbox/inbox-message.ts';
import type { InboxStore } from '../../../sending/inbox/inbox-store.ts';
import { readCapturedFile, showCaptured } from '../../../sending/inbox/show-captured.ts';
import { definePages } from '../answer/list-operations.ts';
import { notFound, Problem } from '../answer/problem.ts';
import { sendDownload } from '../answer/send-download.ts';
import { viewOf } from '../answer/view-of.ts';
import { defineOperation, type OperationCall } from '../operation.ts';
import type { RouteRow } from '../resource-routes.ts';
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

const InboxMessageView = NamedObject('InboxMessage', {
  id: Uuid,
  receivedAt: Time('When it was captured.'),
  envelopeFrom: Type.String(),
  envelopeTo: Type.Array(Type.String()),
  subject: Type.String(),
  headers: Type.Array(StrictObject({ name: Type.String(), value: Type.String() })),
  html: Nullable(Text('The HTML part, with its inline images as `data:` URLs.')),
  text: Nullable(Type.String()),
  attachments: Type.Array(
    StrictObject({
      filename: Nullable(Type.String()),
      contentType: Type.String(),
      size: Whole('In bytes.'),
    }),
    { description: 'Its files, inline images included.' },
  ),
  unread: Flag(
    'Whether its parts couldn’t be read, so that there are only its headers and source.',
  ),
  source: Text('The raw message as received.'),
});

/**
 * What the caller reads: the captured mail that the account of the path sent, or all mail of the installation.
 * @throws Problem for the inbox of an installation that doesn't capture mail
 */
function inboxOf({ dependencies: { inbox, facts }, account }: OperationCall): InboxStore {
  const captures = facts.delivery === 'inbox';
  if (account !== undefined) return inbox.ofAccount(account.id, captures ? 'all' : 'tests');
  if (captures) return inbox;
  throw new Problem('not-found', 'This installation doesn’t capture mail, so it has no inbox');
}

async function messageOf(call: OperationCall): Promise<CapturedMessage> {
  const message = await inboxOf(call).read(call.params.inboxMessageId as InboxMessageId);
  if (message === undefined) throw notFound('message');
  return message;
}

/** An inbox below a path. */
interface Inbox {
  readonly path: string;
  readonly read: Access;
  readonly write: Access;
  /** Ends the names of its operations. */
  readonly name: string;
  /** Ends their summaries. */
  readonly of: string;
  readonly description: string;
}

function routesOf({ path, read, write, name, of, description }: Inbox): readonly RouteRow[] {
  const messages = `${path}/inbox/messages`;
  const message = `${messages}/:inboxMessageId`;
  const list = definePages({
    id: `list${name}Messages`,
    summary: `List captured messages of ${of}, newest first`,
    description,
    filters: {
      search: OptionalText('Text to find in subject, addresses or body, case-insensitive.', {
        maxLength: 200,
      }),
    },
    item: InboxSummaryView,
    cursor: ['time', 'uuid'],
    async read(call, { after, limit }) {
      const place = after && { receivedAt: after[0], id: after[1] };
      return inboxOf(call).listAfter(call.query.search ?? '', place, limit);
    },
    view: (found) => viewOf(InboxSummaryView)(found),
    place: ({ place, id }) => [place, id],
  });
  const get = defineOperation({
    id: `get${name}Message`,
    summary: `Get a captured message of ${of}`,
    answer: InboxMessageView,
    async handle(call) {
      const found = await messageOf(call);
      return viewOf(InboxMessageView)({
        ...found,
        ...(await showCaptured(found)),
        headers: found.headers.map(([field, value]) => ({ name: field, value })),
        source: found.source.toString('utf8'),
      });
    },
  });
  const getSource = defineOperation({
    id: `get${name}MessageSource`,
    summary: `Download a captured message of ${of}`,
    description: 'Its bytes as received.',
    produces: 'application/octet-stream',
    async handle(call) {
      const { id, source } = await messageOf(call);
      sendFile(call, `${id}.eml`, source);
    },
  });
  const getAttachment = defineOperation({
    id: `get${name}Attachment`,
    summary: `Download an attachment of a captured message of ${of}`,
    produces: 'application/octet-stream',
    async handle(call) {
      const place = call.params.attachment;
      const file = await readCapturedFile(await messageOf(call), place);
      if (file === undefined) throw notFound('attachment');
      sendFile(call, file.filename ?? `attachment-${place}`, file.content);
    },
  });
  const remove = defineOperation({
    id: `delete${name}Message`,
    summary: `Delete a captured message of ${of}`,
    async handle(call) {
      const inbox = inboxOf(call);
      const { inboxMessageId } = call.params;
      return inTransaction(call, async (transaction) => {
        if (!(await inbox.removeOne(inboxMessageId as InboxMessageId, transaction)))
          throw notFound('message');
        await recordAudit(call, transaction, 'inbox_message_removed', inboxMessageId);
      });
    },
  });
  const empty = defineOperation({
    id: `empty${name}`,
    summary: `Delete all captured messages of ${of}`,
    async handle(call) {
      const inbox = inboxOf(call);
      return inTransaction(call, async (transaction) => {
        await inbox.remove({ to: undefined, since: undefined }, transaction);
        await recordAudit(call, transaction, 'inbox_emptied', 'inbox');
      });
    },
  });
  return [
    ['GET', messages, read, list],
    ['GET', message, read, get],
    ['GET', `${message}/source`, read, getSource],
    ['GET', `${message}/attachments/:attachment`, read, getAttachment],
    ['DELETE', message, write, remove],
    ['DELETE', messages, write, empty],
  ];
}

function sendFile({ reply }: OperationCall, filename: string, content: Buffer): void {
  sendDownload(reply, { filename, size: content.byteLength, content: Readable.from([content]) });
}

/** The inbox of each account, and that of the installation, which has the mail of all accounts and the service's own. */
export const inboxRoutes: readonly RouteRow[] = [
  ...routesOf({
    path: '/accounts/:accountId',
    read: 'inbox:read',
    write: 'inbox:write',
    name: 'Inbox',
    of: 'an account',
    description:
      'What the account sent with test keys, and with DELIVERY=inbox all that it sent. System mail, such as password links, is only in the installation’s inbox.',
  }),
  ...routesOf({
    path: '',
    read: 'inbox',
    write: 'inbox',
    name: 'InstallationInbox',
    of: 'the installation',
    description:
      'Available with DELIVERY=inbox. All mail, including system mail, such as password links.',
  }),
];
