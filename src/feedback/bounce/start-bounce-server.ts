import type { SMTPServerSession } from 'smtp-server';
import type { ReturnPath } from '../../delivery/return-path.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log.ts';
import { LimitedSmtpServer } from '../../foundation/network/limited-smtp-server.ts';
import {
  listenForSmtp,
  type SmtpListener,
  SmtpReplyError,
} from '../../foundation/network/smtp-listener.ts';
import { SmtpSessionSlots } from '../../foundation/network/smtp-session-limits.ts';
import { truncateAddress } from '../tracking/classify-reader.ts';
import { bounceSessionLimits } from './bounce-session-limits.ts';
import type { FeedbackEvent } from './feedback-event-store.ts';
import { handleFeedbackMail } from './handle-feedback-mail.ts';
import { RateLimit } from './rate-limit.ts';
import { FeedbackMailReceiver, type ReceivedFeedback } from './receive-feedback-mail.ts';

/** Max message size in bytes, announced in EHLO (RFC 1870); a bounce may include the original message. */
const maxMessageBytes = 10 * 1024 ** 2;
/** Max connections in total. */
const maxConnections = 100;
/** Per IP address. */
const maxMessagesPerMinute = 600;

export interface BounceServerDependencies {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly hostname: string | undefined;
  /** PEM; if undefined, STARTTLS isn't offered. */
  readonly tls: { readonly key: string; readonly cert: string } | undefined;
  readonly readReturnPath: (address: string) => ReturnPath | undefined;
  readonly write: (events: readonly FeedbackEvent[]) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Starts the SMTP server (RFC 5321) for mail to return paths, which replies 250 once the event is committed. It never
 * sends mail, so loops are impossible (RFC 3834 section 2, RFC 5321 section 6.1).
 */
export async function startBounceServer(
  dependencies: BounceServerDependencies,
): Promise<SmtpListener> {
  const limit = new RateLimit(maxMessagesPerMinute);
  const receiver = new FeedbackMailReceiver();
  const paths = new WeakMap<SMTPServerSession, ReturnPath>();
  const server = new LimitedSmtpServer(
    {
      ...(dependencies.hostname !== undefined && { name: dependencies.hostname }),
      banner: 'bounces and complaints only',
      size: maxMessageBytes,
      maxClients: maxConnections,
      logger: false,
      disableReverseLookup: true,
      authOptional: true,
      disabledCommands: [
        'AUTH',
        'XCLIENT',
        'XFORWARD',
        ...(dependencies.tls === undefined ? ['STARTTLS'] : []),
      ],
      ...dependencies.tls,
      // RFC 5321 section 4.5.3.2.7; shorter outside a transaction.
      socketTimeout: 5 * 60_000,
      closeTimeout: 2_000,
      onMailFrom(_address, session, callback) {
        if (server.usageOf(session)?.beginMessage(dependencies.clock.now()) === false)
          return callback(new SmtpReplyError(421, 'Too many messages in this session; reconnect'));
        const allowed = limit.consume(
          truncateAddress(session.remoteAddress),
          dependencies.clock.now(),
        );
        return callback(
          allowed
            ? null
            : new SmtpReplyError(451, 'Too many messages from your IP address; try again shortly'),
        );
      },
      onRcptTo({ address }, session, callback) {
        // A bounce is about one message, so defer a second recipient (RFC 5321 section 4.5.3.1.10).
        if (session.envelope.rcptTo.length > 0)
          return callback(new SmtpReplyError(452, 'One recipient at a time'));
        const path = dependencies.readReturnPath(address);
        if (path === undefined) return callback(new SmtpReplyError(550, 'Unknown return path'));
        paths.set(session, path);
        return callback(null);
      },
      onData(stream, session, callback) {
        receiver
          .receive(stream as AsyncIterable<Buffer>, async (mail) => {
            if (!stream.sizeExceeded) await handle(mail, paths.get(session));
            return true;
          })
          .then((handled) => {
            if (stream.sizeExceeded)
              throw new SmtpReplyError(552, `Message larger than ${maxMessageBytes} bytes`);
            if (handled === undefined)
              throw new SmtpReplyError(451, 'Too much mail at once; try again shortly');
          })
          .finally(() => server.usageOf(session)?.endMessage(dependencies.clock.now()))
          .then(
            () => callback(null, 'Accepted'),
            (error: unknown) => callback(toReply(error, dependencies.log)),
          );
      },
    },
    new SmtpSessionSlots(bounceSessionLimits),
    dependencies.clock,
  );
  server.on('error', (error) => dependencies.log.debug({ err: error }, 'bounce connection failed'));
  return await listenForSmtp(server, dependencies.port, dependencies.host);

  async function handle(mail: ReceivedFeedback, path: ReturnPath | undefined): Promise<void> {
    const event = path && handleFeedbackMail(path, mail);
    if (event !== undefined) await dependencies.write([event]);
  }
}

function toReply(error: unknown, log: Log): Error {
  if (error instanceof SmtpReplyError) return error;
  log.warn({ err: error }, 'could not store a bounce or complaint');
  return new SmtpReplyError(451, "Can't store bounces right now; try again shortly");
}
