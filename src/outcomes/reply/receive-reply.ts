import { createHash } from 'node:crypto';
import type { Database } from '../../base/database/open-database.ts';
import { type MimeEntity, readEntity } from '../../base/mime/mime-entity.ts';
import { normalizeAddress, parseEmailAddress } from '../../base/values/email-address.ts';
import { newId } from '../../base/values/ids.ts';
import type { AttachmentStore } from '../../content/message/attachment-store.ts';
import type { ReplyAddresses } from '../../content/message/reply-address.ts';
import type { ParsedReplyPart, ReplyOrigin, ReplyPart } from './reply-content.ts';
import { maxHops } from './reply-limits.ts';
import type { ReplyReader } from './reply-reader.ts';
import { type CountReply, ReplyRefusal } from './reply-refusal.ts';
import {
  findReplyTarget,
  isKnownReply,
  type ReplyTarget,
  type ReplyVerdict,
  storeReply,
} from './reply-store.ts';

/** Characters. */
const maxPreview = 120;
/** Bytes of the text that are searched. */
const maxSearchedBytes = 4_096;

/** The first line of a reply's text that doesn't quote; empty if there is none. */
export function previewReply(parts: readonly ParsedReplyPart[]): string {
  const start = parts.find(({ kind }) => kind === 'text')?.content.subarray(0, maxSearchedBytes);
  // Drops a character that is cut in two.
  const lines = new TextDecoder().decode(start, { stream: true }).split(/[\r\n]+/);
  const line = lines.map((one) => one.trim()).find((one) => one !== '' && !one.startsWith('>'));
  return [...(line ?? '')].slice(0, maxPreview).join('');
}

export interface ReplyIntakeDependencies {
  readonly database: Pick<Database, 'kysely'>;
  readonly addresses: ReplyAddresses;
  readonly attachments: Pick<AttachmentStore, 'save'>;
  readonly read: ReplyReader;
  /** True for an envelope sender of this service. */
  readonly isReturnPath: (address: string) => boolean;
  readonly count: CountReply;
}

export type ReplyIntake = ReturnType<typeof createReplyIntake>;

/** Stores mail to reply addresses. It never sends anything, so it can't cause a mail loop (RFC 3834 section 2). */
export function createReplyIntake(dependencies: ReplyIntakeDependencies) {
  return { find, store };

  /**
   * The message that an address receives replies to. If it has too many, a repetition of one of them is still taken.
   * @param envelopeFrom MAIL FROM
   * @returns undefined if it receives none
   * @throws ReplyRefusal if it can't take one now, or the mail is in a loop
   */
  async function find(address: string, envelopeFrom: string): Promise<ReplyTarget | undefined> {
    const read = dependencies.addresses.read(address);
    if (read === undefined) return undefined;
    const target = await findReplyTarget(dependencies.database.kysely, read);
    if (target === undefined) return undefined;
    if (isOwn(envelopeFrom)) throw loop();
    if (target.verdict === 'account full' || target.verdict === 'recipient full')
      throw refusalOf(target.verdict);
    return target;
  }

  /**
   * Stores a reply; resolves once it is committed.
   * @throws ReplyRefusal if it isn't stored, Busy if there are too many at once
   */
  async function store(target: ReplyTarget, source: Buffer, origin: ReplyOrigin): Promise<void> {
    const { attachments, read, database, count } = dependencies;
    const { accountId, messageId } = target;
    const mail = readEntity(source);
    if (mail.fields.values('received').length > maxHops) throw loop();
    const key = { accountId, messageId, fingerprint: fingerprintOf(mail, source) };
    // Its parts depend on more of the header, so storing them first would let repetitions of one mail fill the disk.
    if (await isKnownReply(database.kysely, key)) {
      count('repeated');
      return;
    }
    if (target.verdict !== 'fits') throw refusalOf(target.verdict);
    const reply = await read(source, origin, accountId);
    const { head, parts, automatic, authentication, unread } = reply;
    if (head.from !== null && isOwn(head.from.address)) throw loop();
    const contents = parts.map(({ content }) => ({
      sha256: createHash('sha256').update(content).digest('hex'),
      content: Buffer.from(content.buffer, content.byteOffset, content.byteLength),
    }));
    await attachments.save(accountId, contents);
    const parsed = parseEmailAddress(head.from?.address ?? origin.envelopeFrom);
    const { verdict, isNew } = await storeReply(database.kysely, {
      ...key,
      id: newId(),
      size: source.length,
      automatic,
      sender: parsed.ok ? normalizeAddress(parsed.address) : undefined,
      content: {
        ...head,
        envelopeFrom: origin.envelopeFrom.slice(0, 320).toWellFormed(),
        authentication,
        preview: previewReply(parts),
        ...(unread && { unread }),
        parts: parts.map((part, index) => describePart(part, contents[index]?.sha256 ?? '')),
      },
    });
    if (verdict !== 'fits') throw refusalOf(verdict);
    count(isNew ? 'stored' : 'repeated', isNew ? source.length : 0);
  }

  /** True for senders of this service: its mail came back, or another of its accounts replied automatically. */
  function isOwn(address: string): boolean {
    const { addresses, isReturnPath } = dependencies;
    return isReturnPath(address) || addresses.read(address) !== undefined;
  }
}

function describePart({ content, ...part }: ParsedReplyPart, sha256: string): ReplyPart {
  return { ...part, size: content.byteLength, sha256 };
}

/**
 * Identifies a mail by its Message-ID and body. Servers on the way add fields to the header, which differ if they send it again.
 * Without a Message-ID, the fields that its author wrote replace it.
 */
function fingerprintOf({ fields }: MimeEntity, source: Buffer): Buffer {
  const names = fields.has('message-id') ? ['message-id'] : ['date', 'from', 'subject'];
  const end = source.indexOf('\r\n\r\n');
  return createHash('sha256')
    .update(JSON.stringify(names.map((name) => fields.get(name) ?? null)))
    .update(source.subarray(end === -1 ? 0 : end))
    .digest();
}

/** RFC 3463 section 3.5. */
function loop(): ReplyRefusal {
  return new ReplyRefusal('loop', 554, '5.4.6 Mail loop detected');
}

/** The same reply for every address that takes no mail, so it doesn't reveal the reason. */
export function unknownAddress(): ReplyRefusal {
  return new ReplyRefusal('unknown_address', 550, '5.1.1 No such address');
}

function refusalOf(verdict: Exclude<ReplyVerdict, 'fits'>): ReplyRefusal {
  switch (verdict) {
    case 'gone':
      return unknownAddress();
    case 'message full':
      return new ReplyRefusal('message_full', 552, '5.2.2 Too many replies to this message');
    case 'recipient full':
    case 'account full':
      return new ReplyRefusal(
        'account_full',
        451,
        '4.2.2 Too many replies at the moment; try again later',
      );
  }
}
