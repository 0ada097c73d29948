import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import { Limiter } from '../../base/fairness/limiter.ts';
import { policies } from '../../base/fairness/policies.ts';
import { networksOf } from '../../base/network/ip-address.ts';
import { LimitedSmtpServer } from '../../base/network/limited-smtp-server.ts';
import { isLostConnection } from '../../base/network/lost-connection.ts';
import {
  listenForSmtp,
  type SmtpListener,
  SmtpReplyError,
} from '../../base/network/smtp-listener.ts';
import {
  type SmtpSessionLimits,
  SmtpSessionSlots,
} from '../../base/network/smtp-session-limits.ts';
import { ThreadOverrun } from '../../base/threads/thread-pool.ts';
import type { Clock } from '../../base/values/clock.ts';
import { Busy } from '../../base/values/errors.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import type { LiveCertificate } from '../../host/http/tls/live-certificate.ts';
import type { ReturnPath } from '../../sending/delivery/return-path.ts';
import { type ReplyIntake, unknownAddress } from '../reply/receive-reply.ts';
import { maxReplyBytes } from '../reply/reply-limits.ts';
import { type CountReply, ReplyRefusal } from '../reply/reply-refusal.ts';
import type { ReplyTarget } from '../reply/reply-store.ts';
import { truncateAddress } from '../tracking/classify-reader.ts';
import type { FeedbackMail } from './classify-bounce.ts';
import type { FeedbackEvent } from './feedback-event-store.ts';
import { readFeedbackMail } from './parse-feedback-mail.ts';
import { RateLimit } from './rate-limit.ts';
import {
  FeedbackMailReceiver,
  type ReceivedFeedback,
  uncountedBytes,
} from './receive-feedback-mail.ts';

/**
 * Turns mail to a return path into an event. Only the signed return path identifies the message and recipient; what the
 * mail itself claims isn't trusted.
 * @param path undefined for mail to a feedback address: a complaint that names a return path counts for it
 * @returns undefined if it says nothing about a message
 * @throws Busy if too many wait, ThreadOverrun if it can't be read
 */
export async function handleFeedbackMail(
  path: ReturnPath | undefined,
  { source, digest }: Pick<ReceivedFeedback, 'source' | 'digest'>,
  readReturnPath: (address: string) => ReturnPath | undefined = () => undefined,
): Promise<FeedbackEvent | undefined> {
  const group = path?.accountTag?.toString('hex') ?? path?.messageId ?? 'feedback addresses';
  const report = await readFeedbackMail({ source }, { group });
  const event = eventOf(report);
  const named = report.kind === 'complaint' ? report.mailFrom : undefined;
  const about = path ?? (named === undefined ? undefined : readReturnPath(named));
  if (event === undefined || about === undefined) return undefined;
  return { ...about, ...event, report: digest, named: report.named };
}

function eventOf(report: FeedbackMail): Pick<FeedbackEvent, 'kind' | 'detail'> | undefined {
  if (report.kind === 'bounce') {
    const { permanent, cause, status, diagnostic } = report;
    const detail = { by: 'mail', cause, permanent, status, reason: diagnostic };
    return { kind: 'bounced', detail };
  }
  if (report.kind === 'delay')
    return {
      kind: 'delayed',
      detail: { by: 'mail', status: report.status, reason: report.diagnostic },
    };
  if (report.kind === 'complaint')
    return { kind: 'complained', detail: { by: 'mail', feedbackType: report.feedbackType } };
  return undefined;
}

/** The limits of a session with the bounce server; a message with STARTTLS needs seven commands. */
export const bounceSessionLimits: SmtpSessionLimits = {
  sessions: policies.bounceSessions,
  commandsPerMessage: 20,
  messagesPerSession: 100,
  firstIdleMs: 60_000,
  idleMs: 60_000,
  transactionMs: 10 * 60_000,
  bytesPerSecond: 16 * 1_024 ** 2,
};

/** Per IP address. */
const maxMessagesPerMinute = 600;

/** Where complaints are sent that go to no return path, and postmaster, which every server has (RFC 5321 section 4.5.1, RFC 2142). */
const feedbackAddress = /^(?:postmaster|abuse|complaints?|fbl|feedback)(?:@|$)/i;

export interface BounceServerDependencies {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly hostname: string | undefined;
  /** If undefined, STARTTLS isn't offered. */
  readonly certificate: LiveCertificate | undefined;
  readonly readReturnPath: (address: string) => ReturnPath | undefined;
  readonly write: (events: readonly FeedbackEvent[]) => Promise<void>;
  readonly replies: Pick<ReplyIntake, 'find' | 'store'>;
  readonly countReply: CountReply;
  /** From `memoryShare`. */
  readonly memoryShare: number;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Starts the SMTP server (RFC 5321) for mail to return paths and reply addresses, which replies 250 once the event or reply is
 * committed. It never sends mail, so loops are impossible (RFC 3834 section 2, RFC 5321 section 6.1).
 */
export async function startBounceServer(
  dependencies: BounceServerDependencies,
): Promise<SmtpListener> {
  const { certificate } = dependencies;
  const limit = new RateLimit(maxMessagesPerMinute);
  const { memoryShare } = dependencies;
  const receiver = new FeedbackMailReceiver(policies.receivedReports, memoryShare);
  const replyReceiver = new FeedbackMailReceiver(
    policies.receivedReplies,
    memoryShare,
    maxReplyBytes,
  );
  const replies = new Limiter(policies.replies);
  const largeReplies = new Limiter(policies.largeReplies);
  const paths = new WeakMap<SMTPServerSession, ReturnPath>();
  const targets = new WeakMap<SMTPServerSession, ReplyTarget>();
  const server = new LimitedSmtpServer(
    {
      ...(dependencies.hostname !== undefined && { name: dependencies.hostname }),
      banner: 'bounces, complaints and replies only',
      size: maxReplyBytes,
      logger: false,
      disableReverseLookup: true,
      authOptional: true,
      disabledCommands: [
        'AUTH',
        'XCLIENT',
        'XFORWARD',
        ...(certificate === undefined ? ['STARTTLS'] : []),
      ],
      ...(certificate && { key: certificate.current.key, cert: certificate.current.cert }),
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
        paths.delete(session);
        targets.delete(session);
        const path = dependencies.readReturnPath(address);
        if (path !== undefined) {
          paths.set(session, path);
          return callback(null);
        }
        if (feedbackAddress.test(address)) return callback(null);
        return findReply(address, session).then(
          () => callback(null),
          (error: unknown) => callback(refuseReply(error)),
        );
      },
      onData(stream, session, callback) {
        const target = targets.get(session);
        const received =
          target === undefined
            ? receiveFeedback(stream, session, paths.get(session))
            : receiveReply(stream, session, target);
        return received
          .finally(() => server.usageOf(session)?.endMessage(dependencies.clock.now()))
          .then(
            () => callback(null, 'Accepted'),
            (error: unknown) =>
              callback(
                target === undefined ? toReply(error, dependencies.log) : refuseReply(error),
              ),
          );
      },
    },
    new SmtpSessionSlots(bounceSessionLimits),
    dependencies.clock,
  );
  certificate?.onChange(({ cert, key }) => server.updateSecureContext({ cert, key }));
  server.on('error', (error) => dependencies.log.debug({ err: error }, 'bounce connection failed'));
  return await listenForSmtp(server, dependencies.port, dependencies.host, dependencies.log);

  function refuseReply(error: unknown): Error {
    const reply = toReply(error, dependencies.log);
    dependencies.countReply(reply instanceof ReplyRefusal ? reply.reason : 'failed');
    return reply;
  }

  async function receiveFeedback(
    stream: SMTPServerDataStream,
    { remoteAddress }: SMTPServerSession,
    path: ReturnPath | undefined,
  ): Promise<void> {
    const networks = networksOf(remoteAddress);
    const handled = await receiver.receive(chunksOf(stream), networks, async (mail) => {
      // A report returns as much of the message as it likes; only its beginning is kept.
      if (stream.sizeExceeded) throw tooLarge(maxReplyBytes);
      await handle(mail, path);
      return true;
    });
    if (handled === undefined) throw tooMuch();
  }

  async function handle(mail: ReceivedFeedback, path: ReturnPath | undefined): Promise<void> {
    const { readReturnPath, log, write } = dependencies;
    const event = await handleFeedbackMail(path, mail, readReturnPath).catch((error: unknown) => {
      if (!(error instanceof ThreadOverrun)) throw error;
      // Deferred, it would come again for days, and never be read.
      log.warn({ err: error, messageId: path?.messageId }, 'could not read a report');
      return undefined;
    });
    if (event !== undefined) await write([event]);
    // Accepted, a person's mail would be lost.
    else if (path === undefined) throw nobodyReads();
  }

  async function findReply(address: string, session: SMTPServerSession): Promise<void> {
    const target = await dependencies.replies.find(address, senderOf(session));
    if (target === undefined) throw unknownAddress();
    targets.set(session, target);
  }

  async function receiveReply(
    stream: SMTPServerDataStream,
    session: SMTPServerSession,
    target: ReplyTarget,
  ): Promise<void> {
    const { remoteAddress } = session;
    const chunks = chunksOf(stream);
    const networks = networksOf(remoteAddress);
    const stored = await replyReceiver.receive(chunks, networks, async ({ source, size }) => {
      if (stream.sizeExceeded || size > maxReplyBytes) throw tooLarge(maxReplyBytes);
      await inSlots(target.accountId, size, () =>
        dependencies.replies.store(target, source, {
          remoteAddress,
          helo: String(session.hostNameAppearsAs || ''),
          envelopeFrom: senderOf(session),
        }),
      );
      return true;
    });
    if (stored === undefined) throw stream.sizeExceeded ? tooLarge(maxReplyBytes) : tooMuch();
  }

  /** A reply holds slots only once it has arrived, so that slow ones keep out no others. */
  function inSlots(accountId: AccountId, size: number, store: () => Promise<void>): Promise<void> {
    return replies.run(accountId, () =>
      size > uncountedBytes ? largeReplies.run(accountId, store) : store(),
    );
  }
}

function chunksOf(stream: SMTPServerDataStream): AsyncIterable<Buffer> {
  return stream as AsyncIterable<Buffer>;
}

/** MAIL FROM; empty for bounces. */
function senderOf({ envelope }: SMTPServerSession): string {
  return envelope.mailFrom ? envelope.mailFrom.address : '';
}

function tooLarge(bytes: number): ReplyRefusal {
  return new ReplyRefusal('too_large', 552, `Message larger than ${bytes} bytes`);
}

function nobodyReads(): SmtpReplyError {
  return new SmtpReplyError(
    550,
    'Nobody reads mail to this address, which takes complaints about messages from here',
  );
}

function tooMuch(): ReplyRefusal {
  return new ReplyRefusal('busy', 451, 'Too much mail at once; try again shortly');
}

function toReply(error: unknown, log: Log): Error {
  if (error instanceof SmtpReplyError) return error;
  if (error instanceof Busy) return tooMuch();
  if (isLostConnection(error)) log.debug({ err: error }, 'a server left in the middle of a mail');
  else log.warn({ err: error }, 'could not store incoming mail');
  return new SmtpReplyError(451, "Can't store mail right now; try again shortly");
}
