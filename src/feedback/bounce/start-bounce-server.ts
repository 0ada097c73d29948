import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { SMTPServerSession } from 'smtp-server';
import type { ReturnPath } from '../../delivery/return-path.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log.ts';
import { truncateAddress } from '../tracking/classify-reader.ts';
import type { FeedbackEvent } from './feedback-event-store.ts';
import { handleFeedbackMail } from './handle-feedback-mail.ts';
import { LimitedSmtpServer } from './limited-smtp-server.ts';
import { RateLimit } from './rate-limit.ts';
import { FeedbackMailReceiver, type ReceivedFeedback } from './receive-feedback-mail.ts';

/** Max report size in bytes, announced in EHLO (RFC 1870); a report may include the original message. */
const maxMessageBytes = 10 * 1024 ** 2;
/** Max connections in total; messages are limited per minute and network. */
const maxConnections = 100;
const messagesPerMinute = 600;

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

export interface BounceServer {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Starts the SMTP server (RFC 5321) that return path domains point their MX to. It accepts mail only for return paths
 * made by this service, replies 250 once the event is committed and never sends mail, so loops are impossible (RFC 3834
 * section 2, RFC 5321 section 6.1).
 */
export async function startBounceServer(
  dependencies: BounceServerDependencies,
): Promise<BounceServer> {
  const limit = new RateLimit(messagesPerMinute);
  const receiver = new FeedbackMailReceiver();
  const paths = new WeakMap<SMTPServerSession, ReturnPath>();
  const server = new LimitedSmtpServer(
    {
      ...(dependencies.hostname !== undefined && { name: dependencies.hostname }),
      banner: 'reports only',
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
          return callback(replyError(421, 'Too many messages in one session; connect again'));
        const free = limit.consume(
          truncateAddress(session.remoteAddress),
          dependencies.clock.now(),
        );
        return callback(
          free ? null : replyError(451, 'Too many messages from your network; try again shortly'),
        );
      },
      onRcptTo({ address }, session, callback) {
        // A report is about one message, so defer a second recipient (RFC 5321 section 4.5.3.1.10).
        if (session.envelope.rcptTo.length > 0)
          return callback(replyError(452, 'One recipient at a time'));
        const path = dependencies.readReturnPath(address);
        if (path === undefined) return callback(replyError(550, 'No such return path here'));
        paths.set(session, path);
        return callback(null);
      },
      onData(stream, session, callback) {
        receiver
          .receive(stream as AsyncIterable<Buffer>, async (report) => {
            if (!stream.sizeExceeded) await handle(report, paths.get(session));
            return true;
          })
          .then((handled) => {
            if (stream.sizeExceeded) throw replyError(552, `The limit is ${maxMessageBytes} bytes`);
            if (handled === undefined)
              throw replyError(451, 'Too much mail at once; try again shortly');
          })
          .finally(() => server.usageOf(session)?.endMessage(dependencies.clock.now()))
          .then(
            () => callback(null, 'Noted'),
            (error: unknown) => callback(toReply(error, dependencies.log)),
          );
      },
    },
    dependencies.clock,
  );
  server.on('error', (error) =>
    dependencies.log.debug({ err: error }, 'a report connection failed'),
  );
  server.listen(dependencies.port, dependencies.host);
  await once(server.server, 'listening');
  return {
    port: (server.server.address() as AddressInfo).port,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };

  async function handle(report: ReceivedFeedback, path: ReturnPath | undefined): Promise<void> {
    const event = path && handleFeedbackMail(path, report);
    if (event !== undefined) await dependencies.write([event]);
  }
}

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
  log.warn({ err: error }, 'a report cannot be kept now');
  return replyError(451, 'Reports cannot be kept now; try again shortly');
}
