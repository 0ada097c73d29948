import { recordAuditEvent } from '../../accounts/audit/audit-store.ts';
import type { DatabaseTransaction } from '../../base/database/open-database.ts';
import { decodeWords } from '../../base/mime/decode.ts';
import { mailJob } from '../../base/mime/mail-threads.ts';
import { readEntity } from '../../base/mime/mime-entity.ts';
import { parseMailboxes } from '../../base/mime/parse-mailboxes.ts';
import { readMail } from '../../base/mime/read-mail.ts';
import { domainOf } from '../../base/values/email-address.ts';
import { Busy } from '../../base/values/errors.ts';
import { type MessageId, parseMessageId, type TemplateId } from '../../base/values/ids.ts';
import { bccOf, visibleCc } from '../../content/message/message-content.ts';
import { readMessageStatus } from '../../content/message/message-status-store.ts';
import { rawSourceOf, rawTemplateId } from '../../content/message/raw-message.ts';
import { readSubjects } from '../../outcomes/report/read-subjects-store.ts';
import { ScheduleStore } from '../../sending/queue/schedule-store.ts';
import type { DropInRequest } from './drop-in.ts';
import { DropInRefusal } from './drop-in-errors.ts';
import { writeMailbox } from './read-mailboxes.ts';
import { readTogether, type SentRow } from './sent-message-store.ts';

/** A message as providers' APIs give it back. */
export type SentMessage = SentRow & ReturnType<typeof viewPeople> & { readonly subject: string };

const maxSourceBytes = 1_024 * 1_024;
const maxMailboxes = 200;

const viewSource = mailJob(viewSourceJob, import.meta.url);

/** What headers and parts of a complete message say. */
export function viewSourceJob({ source }: { readonly source: Buffer }) {
  const { fields } = readEntity(source);
  const { html = null, text = null, files } = readMail(source);
  const list = (name: string): string[] =>
    parseMailboxes(fields.get(name) ?? '', maxMailboxes).map(writeMailbox);
  return {
    to: list('to'),
    cc: list('cc'),
    replyTo: list('reply-to'),
    mailId: decodeWords(fields.get('message-id') ?? ''),
    html,
    text,
    files: files.map(({ filename = '' }) => filename),
  };
}

const none: readonly string[] = [];

/** Who is in a message from a list, as a provider shows it: only its own recipient. Empty once erased. */
function viewPeople({ id, content }: SentRow) {
  const { from, to: address, toName: name, replyTo } = content ?? {};
  return {
    from: from === undefined ? '' : writeMailbox(from),
    to: address === undefined ? none : [writeMailbox({ address, name })],
    cc: content === null ? none : visibleCc(content),
    bcc: content === null ? none : bccOf(content),
    replyTo: replyTo === undefined ? none : [replyTo],
    /** With angle brackets. */
    mailId: from === undefined ? '' : `<${id}@${domainOf(from.address)}>`,
  };
}

function sourceOf({ template_id, content }: SentRow) {
  return template_id === rawTemplateId && content !== null ? rawSourceOf(content) : undefined;
}

/** A message that the account has sent. @throws DropInRefusal NOT_FOUND */
export async function find({ kysely, accountId }: DropInRequest, idText = '') {
  const id = parseMessageId(idText);
  const status = id && (await readMessageStatus(kysely, accountId, id));
  if (id === undefined || status === undefined)
    throw new DropInRefusal('NOT_FOUND', 'The account has no such email.');
  const { message, entry, events } = status;
  const state = entry?.leased ? 'sending' : message.state;
  return { ...message, id, state, events } as const;
}

/**
 * A message with its parts. Its texts are null if it's from a stored template, erased, or larger than 1 MiB.
 * @throws DropInRefusal NOT_FOUND
 */
export async function readSentMessage(request: DropInRequest, idText?: string) {
  const { services, accountId } = request;
  const { events, ...row } = await find(request, idText);
  const [sent] = await describeSent(request, [row]);
  const source = sourceOf(row);
  const own = source === undefined ? (row.content?.attachments ?? []) : [];
  const unread = { html: null, text: null, files: own.map(({ filename }) => filename) };
  const isReadable = source !== undefined && source.size <= maxSourceBytes;
  const bytes = isReadable && (await services.attachments.read(accountId, source.sha256));
  const view = bytes
    ? await viewSource({ source: bytes }, { group: accountId }).catch((error: unknown) => {
        // Otherwise its author made it unreadable.
        if (error instanceof Busy) throw error;
        return unread;
      })
    : unread;
  return { ...(sent as SentMessage), ...view, events };
}

/** Messages as their rows show them, with secret values masked. */
export async function describeSent(
  { services, kysely, accountId }: DropInRequest,
  rows: readonly SentRow[],
): Promise<SentMessage[]> {
  const refs = rows.map(({ id, template_id, template_version: version }) => ({
    accountId,
    id,
    templateId: template_id as TemplateId,
    version,
  }));
  const subjects = await readSubjects(kysely, services.templates, refs);
  const subjectOf = ({ id }: SentRow) => subjects.get(id)?.text ?? '';
  return rows.map((row) => ({ ...row, ...viewPeople(row), subject: subjectOf(row) }));
}

/** The messages that were accepted with this one, which is among them: one for each recipient. */
export async function findTogether(
  { kysely, accountId }: DropInRequest,
  message: SentRow,
): Promise<readonly MessageId[]> {
  const source = sourceOf(message);
  return source === undefined ? [message.id] : readTogether(kysely, accountId, source.sha256);
}

/**
 * Cancels what waits for its time, or moves it.
 * @param which a message, or those with an external ID
 * @returns how many messages changed
 */
export async function changeSchedule(
  { services, admission: { clientId }, accountId, origin }: DropInRequest,
  which: { readonly messageId: MessageId } | { readonly externalId: string },
  sendAt?: Date,
): Promise<number> {
  const detail = { id: Object.values(which)[0] as string };
  const kind = sendAt === undefined ? 'schedule_cancel' : 'schedule_move';
  const record = (transaction: DatabaseTransaction) =>
    recordAuditEvent(transaction, { kind, accountId, clientId, origin, detail });
  const store = new ScheduleStore(services.database);
  const selection = { accountId, ...which };
  const changing =
    sendAt === undefined ? store.cancel(selection, record) : store.move(selection, sendAt, record);
  return (await changing).changed;
}
