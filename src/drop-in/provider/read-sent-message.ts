import { decodeWords } from '../../base/mime/decode.ts';
import { mailJob } from '../../base/mime/mail-threads.ts';
import { readEntity } from '../../base/mime/mime-entity.ts';
import { parseMailboxes } from '../../base/mime/parse-mailboxes.ts';
import { readMail } from '../../base/mime/read-mail.ts';
import { Busy } from '../../base/values/errors.ts';
import { parseMessageId } from '../../base/values/ids.ts';
import { bccOf, type StoredContent, visibleCc } from '../../content/message/message-content.ts';
import { readMessageStatus, type StoredEvent } from '../../content/message/message-status-store.ts';
import { rawSourceOf, rawTemplateId } from '../../content/message/raw-message.ts';
import { readSubjects } from '../../outcomes/report/read-subjects-store.ts';
import { DropInRefusal, type DropInRequest } from './drop-in.ts';
import { writeMailbox } from './read-mailboxes.ts';
import { readTogether, type SentRow } from './sent-message-store.ts';

/** A message as providers' APIs give it back. */
export interface SentMessage extends SentRow {
  readonly from: string;
  /** Of a message from a list: only its own recipient. */
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly replyTo: readonly string[];
  readonly subject: string;
  /** With angle brackets. */
  readonly mailId: string;
}

/** One message with all that is known of it. */
export interface SentMessageDetail extends SentMessage {
  /** Null: it's from a stored template, erased, or larger than 1 MiB. */
  readonly html: string | null;
  readonly text: string | null;
  /** Names of its attachments. */
  readonly files: readonly string[];
  readonly events: readonly StoredEvent[];
}

/** What headers and parts of a complete message say. */
interface SourceView extends Pick<SentMessage, 'to' | 'cc' | 'replyTo' | 'mailId'> {
  readonly html: string | null;
  readonly text: string | null;
  readonly files: readonly string[];
}

const maxSourceBytes = 1_024 * 1_024;
const maxMailboxes = 200;

const viewSource = mailJob(viewSourceJob, import.meta.url);

export function viewSourceJob({ source }: { readonly source: Buffer }): SourceView {
  const { fields } = readEntity(source);
  const { html, text, files } = readMail(source);
  const list = (name: string): string[] =>
    parseMailboxes(fields.get(name) ?? '', maxMailboxes).map(({ address, name: shown }) =>
      writeMailbox(address, shown),
    );
  return {
    to: list('to'),
    cc: list('cc'),
    replyTo: list('reply-to'),
    mailId: decodeWords(fields.get('message-id') ?? ''),
    html: html ?? null,
    text: text ?? null,
    files: files.map(({ filename }) => filename ?? ''),
  };
}

/**
 * Finds a message of the account.
 * @throws DropInRefusal NOT_FOUND
 */
export async function findSentMessage(
  { services, admission }: DropInRequest,
  idText: string,
): Promise<SentRow & Pick<SentMessageDetail, 'events'>> {
  const { kysely } = services.database;
  const id = parseMessageId(idText);
  const status = id && (await readMessageStatus(kysely, admission.account.id, id));
  if (id === undefined || status === undefined)
    throw new DropInRefusal('NOT_FOUND', 'The account has no such email.');
  const { message, queued, events } = status;
  return {
    id,
    acceptedAt: message.accepted_at,
    state: queued.some(({ leased }) => leased) ? 'sending' : message.state,
    templateId: message.template_id as SentRow['templateId'],
    templateVersion: message.template_version,
    tag: message.tag,
    trackOpens: message.track_opens,
    trackClicks: message.track_clicks,
    retentionDays: message.retention_days,
    content: message.content,
    events,
  };
}

/**
 * Reads a message of the account with its parts.
 * @throws DropInRefusal NOT_FOUND
 */
export async function readSentMessage(
  request: DropInRequest,
  idText: string,
): Promise<SentMessageDetail> {
  const { services, admission } = request;
  const { account } = admission;
  const row = await findSentMessage(request, idText);
  const [sent] = await describeSent(request, [row]);
  const source = sourceOf(row);
  const files =
    source === undefined ? (row.content?.attachments ?? []).map(({ filename }) => filename) : [];
  const isReadable = source !== undefined && source.size <= maxSourceBytes;
  const bytes = isReadable ? await services.attachments.read(account.id, source.sha256) : undefined;
  const view =
    bytes &&
    (await viewSource({ source: bytes }, { group: account.id }).catch((error: unknown) => {
      if (error instanceof Busy) throw error;
      // Its author made it unreadable.
      return undefined;
    }));
  return { ...(sent as SentMessage), html: null, text: null, files, ...view, events: row.events };
}

/** Messages as their rows show them, with secret values masked. */
export async function describeSent(
  { services, admission }: DropInRequest,
  rows: readonly SentRow[],
): Promise<SentMessage[]> {
  const { database, templates } = services;
  const refs = rows.map(({ id, templateId, templateVersion }) => ({
    accountId: admission.account.id,
    id,
    templateId,
    version: templateVersion,
  }));
  const subjects = await readSubjects(database.kysely, templates, refs);
  return rows.map((row) => {
    const { content } = row;
    const subject = subjects.get(row.id)?.text ?? '';
    if (content === null) return { ...row, ...nobody, subject };
    const { from, replyTo } = content;
    return {
      ...row,
      from: writeMailbox(from.address, from.name),
      to: [writeMailbox(content.to, content.toName)],
      cc: [...visibleCc(content)],
      bcc: [...bccOf(content)],
      replyTo: replyTo === undefined ? [] : [replyTo],
      subject,
      mailId: `<${row.id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
    };
  });
}

const nobody = { from: '', to: [], cc: [], bcc: [], replyTo: [], mailId: '' } as const;

function sourceOf({ templateId, content }: Pick<SentRow, 'templateId' | 'content'>) {
  return templateId === rawTemplateId && content !== null
    ? rawSourceOf(content as Pick<StoredContent, 'attachments'>)
    : undefined;
}

/** The messages that were accepted with this one, which is among them: one for each recipient. */
export async function findTogether(
  { services, admission }: DropInRequest,
  message: Pick<SentRow, 'id' | 'templateId' | 'content'>,
): Promise<readonly SentRow['id'][]> {
  const source = sourceOf(message);
  if (source === undefined) return [message.id];
  const { kysely } = services.database;
  return readTogether(kysely, admission.account.id, source.sha256);
}
