import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { maxAttachmentLimit } from '../../accounts/account/account-settings.ts';
import { isUnavailable } from '../../base/database/sqlstate.ts';
import { ByteCollector } from '../../base/fairness/byte-collector.ts';
import { isLostConnection } from '../../base/network/lost-connection.ts';
import {
  listenForSmtp,
  type SmtpListener,
  SmtpReplyError,
} from '../../base/network/smtp-listener.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import type { InboxArrivals } from './inbox-arrivals.ts';
import type { InboxStore } from './inbox-store.ts';
import { parseMail } from './parse-mail.ts';

/** Header fields that are added to the largest message that submission accepts: Received, signatures and such. */
const addedHeaderBytes = 256 * 1024;

/** Maximum message size in bytes, announced in EHLO (RFC 1870). */
export const maxMailBytes = maxAttachmentLimit + addedHeaderBytes;

/** Maximum recipients per message; RFC 5321 section 4.5.3.1.8 requires at least 100. */
const maxRecipients = 1_000;

/** Trim the store after this many messages. */
const messagesPerTrim = 100;

export interface InboxServerOptions {
  readonly store: Pick<InboxStore, 'add' | 'trim'>;
  readonly arrivals: Pick<InboxArrivals, 'announce'>;
  readonly log: Log;
  readonly host?: string;
  /** 0, the default, picks a free one. */
  readonly port?: number;
}

/** The running SMTP server of the inbox. */
export interface InboxServer extends SmtpListener {
  readonly host: string;
}

/**
 * Starts the SMTP server (RFC 5321) that stores all mail in the inbox, for any recipient. It replies 250 once the
 * message is committed, 451 if the database is unavailable, 552 if the message is too large.
 */
export async function startInboxServer(options: InboxServerOptions): Promise<InboxServer> {
  const { log, host = '127.0.0.1', port = 0 } = options;
  const handleMail = createMailHandler(options);
  const server = new SMTPServer({
    name: 'inbox.localhost',
    banner: 'Signalpost inbox',
    size: maxMailBytes,
    rejectOversized: true,
    maxClients: 200,
    logger: false,
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: false,
    // Delivery names the account of a message in ENVID.
    hideDSN: false,
    // Connections are local, and clients need no authentication.
    disabledCommands: ['AUTH', 'STARTTLS', 'XCLIENT', 'XFORWARD'],
    closeTimeout: 2_000,
    onRcptTo(_address, session, callback) {
      const full = session.envelope.rcptTo.length >= maxRecipients;
      // RFC 5321 section 4.5.3.1.10: 452 for too many recipients.
      callback(full ? new SmtpReplyError(452, 'Too many recipients') : null);
    },
    onData(stream, session, callback) {
      return receive(stream)
        .then((source) => handleMail(source, session))
        .then(
          (id) => callback(null, `Stored as ${id}`),
          (error) => callback(toReply(error, log)),
        );
    },
  });
  server.on('error', (error) => log.debug({ err: error }, 'inbox connection failed'));
  return { host, ...(await listenForSmtp(server, port, host, log)) };
}

function toReply(error: unknown, log: Log): Error {
  if (error instanceof SmtpReplyError) return error;
  if (isLostConnection(error)) log.debug({ err: error }, 'a client left in the middle of a mail');
  else if (!isUnavailable(error))
    log.error({ err: error }, 'could not store a message in the inbox');
  return new SmtpReplyError(451, "The inbox can't store mail right now; try again shortly");
}

/** Reads the message; over the size limit, the rest is read but discarded. */
async function receive(stream: SMTPServerDataStream): Promise<Buffer> {
  const collected = new ByteCollector();
  for await (const chunk of stream) {
    if (stream.sizeExceeded) collected.clear();
    else collected.add(chunk as Buffer);
  }
  if (stream.sizeExceeded) throw new SmtpReplyError(552, 'Message too large');
  return collected.take();
}

/** Parses, commits and announces; trims occasionally in the background. */
function createMailHandler(options: InboxServerOptions) {
  const { store, arrivals, log } = options;
  let storedCount = 0;
  return async (source: Buffer, session: SMTPServerSession): Promise<string> => {
    const { mailFrom, rcptTo, dsn } = session.envelope;
    const accountId = (dsn?.envid ?? undefined) as AccountId | undefined;
    const envelopeFrom = mailFrom === false ? '' : mailFrom.address;
    const envelopeTo = rcptTo.map(({ address }) => address);
    const content = await parseMail(source, { group: 'inbox', patient: true });
    const id = await store.add({ accountId, envelopeFrom, envelopeTo, source, ...content });
    arrivals.announce({ id, envelopeTo });
    if (storedCount % messagesPerTrim === 0)
      store.trim().catch((error) => log.warn({ err: error }, 'could not trim the inbox'));
    storedCount += 1;
    return id;
  };
}
