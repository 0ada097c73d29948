import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { SMTPServerSession } from 'smtp-server';
import type { ReturnPath } from '../../delivery/return-path.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log.ts';
import { truncateAddress } from '../tracking/classify-reader.ts';
import { LimitedSmtpServer } from './limited-smtp-server.ts';
import { RateLimit } from './rate-limit.ts';
import { type ReceivedReport, ReportReceiver } from './receive-report.ts';
import type { OutsideEvent } from './report-store.ts';
import { takeReport } from './take-report.ts';

/** Largest report in bytes, as EHLO says (RFC 1870): an original message and what is said about it. */
const mostBytes = 10 * 1024 ** 2;
/** Connections, and messages a minute from one network. */
const mostClients = 100;
const messagesPerMinute = 600;

export interface ReportServerParts {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly hostname: string | undefined;
  /** PEM; without them STARTTLS is not offered. */
  readonly tls: { readonly key: string; readonly cert: string } | undefined;
  readonly readReturnPath: (address: string) => ReturnPath | undefined;
  readonly write: (events: readonly OutsideEvent[]) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ReportServer {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Starts the SMTP server (RFC 5321) to which the MX of return path domains leads. It takes mail only for return paths that
 * this service made, answers 250 once what it says is committed, and never sends anything, so no mail can loop (RFC 3834
 * section 2, RFC 5321 section 6.1).
 */
export async function startReportServer(parts: ReportServerParts): Promise<ReportServer> {
  const limit = new RateLimit(messagesPerMinute);
  const receiver = new ReportReceiver();
  const paths = new WeakMap<SMTPServerSession, ReturnPath>();
  const server = new LimitedSmtpServer(
    {
      ...(parts.hostname !== undefined && { name: parts.hostname }),
      banner: 'reports only',
      size: mostBytes,
      maxClients: mostClients,
      logger: false,
      disableReverseLookup: true,
      authOptional: true,
      disabledCommands: [
        'AUTH',
        'XCLIENT',
        'XFORWARD',
        ...(parts.tls === undefined ? ['STARTTLS'] : []),
      ],
      ...parts.tls,
      // RFC 5321 section 4.5.3.2.7; one without a message has less.
      socketTimeout: 5 * 60_000,
      closeTimeout: 2_000,
      onMailFrom(_address, session, callback) {
        if (server.useOf(session)?.beginMessage(parts.clock.now()) === false)
          return callback(replyError(421, 'Too many messages in one session; connect again'));
        const free = limit.take(truncateAddress(session.remoteAddress), parts.clock.now());
        return callback(
          free ? null : replyError(451, 'Too many messages from your network; try again shortly'),
        );
      },
      onRcptTo({ address }, session, callback) {
        // One report is about one message: a second recipient is put off (RFC 5321 section 4.5.3.1.10).
        if (session.envelope.rcptTo.length > 0)
          return callback(replyError(452, 'One recipient at a time'));
        const path = parts.readReturnPath(address);
        if (path === undefined) return callback(replyError(550, 'No such return path here'));
        paths.set(session, path);
        return callback(null);
      },
      onData(stream, session, callback) {
        receiver
          .receive(stream as AsyncIterable<Buffer>, async (report) => {
            if (!stream.sizeExceeded) await keep(report, paths.get(session));
            return true;
          })
          .then((kept) => {
            if (stream.sizeExceeded) throw replyError(552, `The limit is ${mostBytes} bytes`);
            if (kept === undefined)
              throw replyError(451, 'Too much mail at once; try again shortly');
          })
          .finally(() => server.useOf(session)?.endMessage(parts.clock.now()))
          .then(
            () => callback(null, 'Noted'),
            (error: unknown) => callback(toReply(error, parts.log)),
          );
      },
    },
    parts.clock,
  );
  server.on('error', (error) => parts.log.debug({ err: error }, 'a report connection failed'));
  server.listen(parts.port, parts.host);
  await once(server.server, 'listening');
  return {
    port: (server.server.address() as AddressInfo).port,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };

  async function keep(report: ReceivedReport, path: ReturnPath | undefined): Promise<void> {
    const event = path && takeReport(path, report);
    if (event !== undefined) await parts.write([event]);
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
