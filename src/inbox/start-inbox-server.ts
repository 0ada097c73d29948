import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { isUnavailable } from '../foundation/database/sqlstate.ts';
import type { Log } from '../foundation/log.ts';
import type { InboxArrivals } from './inbox-arrivals.ts';
import type { InboxStore } from './inbox-store.ts';
import { parseMail } from './parse-mail.ts';

/** Largest message, in bytes, as EHLO says (RFC 1870). */
export const maxMailBytes = 25 * 1024 ** 2;

/** Most recipients of one message; RFC 5321 section 4.5.3.1.8 asks for at least 100. */
const maxRecipients = 1_000;

/** After so many messages the store is trimmed to its bounds. */
const messagesPerTrim = 100;

export interface InboxServerOptions {
  readonly store: Pick<InboxStore, 'add' | 'trim'>;
  readonly arrivals: Pick<InboxArrivals, 'announce'>;
  readonly log: Log;
  readonly host?: string;
  /** 0, the default, takes a free one. */
  readonly port?: number;
}

/** The running SMTP server of the inbox. */
export interface InboxServer {
  readonly host: string;
  readonly port: number;
  /** Takes no more connections, lets those that talk finish for a moment, then ends them. */
  stop(): Promise<void>;
}

/**
 * Starts the SMTP server (RFC 5321) that keeps all mail in the inbox, whoever it is for. It answers 250 once the
 * message is committed, 451 where the database is away, 552 where the message is too large.
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
    // The connection never leaves the machine, and there is nobody to tell apart.
    disabledCommands: ['AUTH', 'STARTTLS', 'XCLIENT', 'XFORWARD'],
    closeTimeout: 2_000,
    onRcptTo(_address, session, callback) {
      const full = session.envelope.rcptTo.length >= maxRecipients;
      // RFC 5321 section 4.5.3.1.10: 452 for too many recipients.
      callback(full ? replyError(452, 'Too many recipients') : null);
    },
    onData(stream, session, callback) {
      receive(stream)
        .then((source) => handleMail(source, session))
        .then(
          (id) => callback(null, `Kept as ${id}`),
          (error) => callback(toReply(error, log)),
        );
    },
  });
  server.on('error', (error) => log.debug({ err: error }, 'inbox connection failed'));
  server.listen(port, host);
  await once(server.server, 'listening');
  const address = server.server.address() as AddressInfo;
  return {
    host,
    port: address.port,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** A reply other than 250. */
class ReplyError extends Error {
  readonly responseCode: number;

  constructor(responseCode: number, message: string) {
    super(message);
    this.responseCode = responseCode;
  }
}

function replyError(code: number, message: string): ReplyError {
  return new ReplyError(code, message);
}

function toReply(error: unknown, log: Log): Error {
  if (error instanceof ReplyError) return error;
  if (!isUnavailable(error)) log.error({ err: error }, 'the inbox could not keep a message');
  return replyError(451, 'The inbox cannot keep mail now; try again shortly');
}

/** The message as bytes; past the limit it is read to its end but not kept. */
async function receive(stream: SMTPServerDataStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) {
    if (stream.sizeExceeded) chunks.length = 0;
    else chunks.push(chunk as Buffer);
  }
  if (stream.sizeExceeded) throw replyError(552, 'Too large');
  return Buffer.concat(chunks);
}

/** Parses, commits, announces; trims now and then, beside the mail. */
function createMailHandler(options: InboxServerOptions) {
  const { store, arrivals, log } = options;
  let storedCount = 0;
  return async (source: Buffer, session: SMTPServerSession): Promise<string> => {
    const { mailFrom, rcptTo } = session.envelope;
    const envelopeFrom = mailFrom === false ? '' : mailFrom.address;
    const envelopeTo = rcptTo.map(({ address }) => address);
    const id = await store.add({ envelopeFrom, envelopeTo, source, ...(await parseMail(source)) });
    arrivals.announce({ id, envelopeTo });
    if (storedCount % messagesPerTrim === 0)
      store.trim().catch((error) => log.warn({ err: error }, 'the inbox could not be trimmed'));
    storedCount += 1;
    return id;
  };
}
