import { hostname as osHostname } from 'node:os';
import { Counter, type Registry } from 'prom-client';
import type { SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import { maxAttachmentLimit } from '../../accounts/account/account-settings.ts';
import { type Holding, Limiter } from '../../base/fairness/limiter.ts';
import { policies } from '../../base/fairness/policies.ts';
import { LimitedSmtpServer } from '../../base/network/limited-smtp-server.ts';
import { isLostConnection } from '../../base/network/lost-connection.ts';
import { listenForSmtp, type SmtpListener } from '../../base/network/smtp-listener.ts';
import {
  type SmtpSessionLimits,
  SmtpSessionSlots,
} from '../../base/network/smtp-session-limits.ts';
import { metricOptions } from '../../base/telemetry/metrics-table.ts';
import { registerGauge } from '../../base/telemetry/register-gauge.ts';
import type { TraceSpan, Tracing } from '../../base/telemetry/tracing.ts';
import type { Clock } from '../../base/values/clock.ts';
import { Fault } from '../../base/values/errors.ts';
import type { Log } from '../../base/values/log.ts';
import { tlsHandshakeOptions } from '../../host/http/tls/create-tls-server.ts';
import type { LiveCertificate } from '../../host/http/tls/live-certificate.ts';
import { MessageReceiver, tooLarge } from './receive-message.ts';
import {
  protocolReplies,
  SubmissionRefusal,
  toReplyError,
  toSubmissionReply,
  traceSubmission,
} from './submission-replies.ts';
import { type SessionDependencies, SubmissionSession } from './submission-session.ts';

/** Recipients of one message; further ones get 452, so the client sends them in another transaction. */
export const maxSubmissionRecipients = 50;

/** The limits of a session; most commands are RCPTs. */
export const submissionSessionLimits: SmtpSessionLimits = {
  sessions: policies.submissionSessions,
  commandsPerMessage: 2 * maxSubmissionRecipients + 20,
  messagesPerSession: 1_000,
  firstIdleMs: 60_000,
  // RFC 5321 section 4.5.3.2.7.
  idleMs: 5 * 60_000,
  transactionMs: 15 * 60_000,
  bytesPerSecond: 32 * 1_024 ** 2,
};

/** The commands whose replies are counted. */
type CountedCommand = 'AUTH' | 'MAIL' | 'RCPT' | 'DATA';

/** Metrics of SMTP submission for `/metrics`. What the send operation accepts and refuses is counted there, too. */
export class SmtpSubmissionMetrics {
  readonly #replies: Counter;

  /** @param openSessions returns how many sessions are open */
  constructor(registry: Registry, openSessions: () => number) {
    this.#replies = new Counter(metricOptions('signalpost_submission_replies_total', registry));
    registerGauge(registry, 'signalpost_submission_sessions', openSessions);
  }

  /** @param code of the reply (RFC 5321 section 4.2) */
  replied(command: CountedCommand, code: number): void {
    this.#replies.inc({ command, code });
  }
}

/** Where to listen; an undefined port isn't opened. */
export interface SubmissionAddresses {
  readonly host: string;
  /** With STARTTLS (RFC 6409); 0 picks a free one. */
  readonly port: number | undefined;
  /** With implicit TLS (RFC 8314 section 3.3); 0 picks a free one. */
  readonly tlsPort: number | undefined;
}

interface SubmissionServerDependencies extends SessionDependencies {
  readonly addresses: SubmissionAddresses;
  readonly hostname: string | undefined;
  readonly certificate: LiveCertificate;
  readonly memoryShare: number;
  readonly metrics: Pick<SmtpSubmissionMetrics, 'replied'>;
  /** Undefined: nothing is traced. */
  readonly tracing: Tracing | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** The running server. */
export interface SubmissionServer {
  readonly port: number | undefined;
  readonly tlsPort: number | undefined;
  /** Open sessions on both ports. */
  sessions(): number;
  stop(): Promise<void>;
}

/**
 * Starts the message submission service (RFC 6409) on up to two ports. It replies 250 to a message once all its copies are
 * committed and flushed.
 */
export async function startSubmissionServer(
  dependencies: SubmissionServerDependencies,
): Promise<SubmissionServer> {
  const { host, port, tlsPort } = dependencies.addresses;
  const slots = new SmtpSessionSlots(submissionSessionLimits);
  const shared: SharedLimits = {
    slots,
    logins: new Limiter(policies.submissionLogins),
    receiver: new MessageReceiver(dependencies.memoryShare),
  };
  const servers: LimitedSmtpServer[] = [];
  const open = async (
    at: number | undefined,
    secure: boolean,
  ): Promise<SmtpListener | undefined> => {
    if (at === undefined) return undefined;
    const server = createServer(dependencies, shared, secure);
    servers.push(server);
    return listenForSmtp(server, at, host, dependencies.log);
  };
  const plain = await open(port, false);
  const tls = await open(tlsPort, true).catch(async (error: unknown) => {
    await plain?.stop();
    throw error;
  });
  return {
    port: plain?.port,
    tlsPort: tls?.port,
    sessions: () => servers.reduce((sum, { connections }) => sum + connections.size, 0),
    async stop() {
      await Promise.all([plain?.stop(), tls?.stop()]);
    },
  };
}

/** What both ports share. */
interface SharedLimits {
  readonly slots: SmtpSessionSlots;
  readonly logins: Limiter;
  readonly receiver: MessageReceiver;
}

interface OpenSession {
  readonly session: SubmissionSession;
  maxBytes: number;
  login?: Holding;
  /** A message is being stored: a session that ended now would make its client send it again. */
  isStoring: boolean;
}

type Handlers = Pick<
  SMTPServerOptions,
  'onAuth' | 'onConnect' | 'onClose' | 'onMailFrom' | 'onRcptTo' | 'onData' | 'onSecure'
>;

/** Before TLS, a client can only ask for it (RFC 3207 section 4). */
const disabledWithoutTls = ['XCLIENT', 'XFORWARD', 'AUTH'];
const disabledWithTls = ['XCLIENT', 'XFORWARD'];

function createServer(
  dependencies: SubmissionServerDependencies,
  shared: SharedLimits,
  secure: boolean,
): LimitedSmtpServer {
  const { hostname, certificate, clock, log } = dependencies;
  const { cert, key } = certificate.current;
  const server: LimitedSmtpServer = new LimitedSmtpServer(
    {
      ...(hostname !== undefined && { name: hostname }),
      banner: 'Signalpost submission',
      secure,
      cert,
      key,
      ...tlsHandshakeOptions,
      size: maxAttachmentLimit,
      maxRecipients: maxSubmissionRecipients,
      authMethods: ['PLAIN', 'LOGIN'],
      authRequiredMessage: protocolReplies.loginRequired.text,
      disabledCommands: disabledWithTls,
      hideENHANCEDSTATUSCODES: false,
      logger: false,
      disableReverseLookup: true,
      // RFC 5321 section 4.5.3.2.7; LimitedSmtpServer ends idle sessions sooner.
      socketTimeout: 5 * 60_000,
      closeTimeout: 5_000,
      ...createHandlers(dependencies, shared, () => server),
    },
    shared.slots,
    clock,
    { requireTls: toReplyError(protocolReplies.tlsRequired) },
  );
  certificate.onChange((next) => server.updateSecureContext({ cert: next.cert, key: next.key }));
  server.on('error', (error) => log.debug({ err: error }, 'submission connection failed'));
  return server;
}

function createHandlers(
  dependencies: SubmissionServerDependencies,
  { logins, receiver }: SharedLimits,
  server: () => LimitedSmtpServer,
): Handlers {
  const { clock, log, metrics, tracing } = dependencies;
  const open = new WeakMap<SMTPServerSession, OpenSession>();
  const sessionOf = (session: SMTPServerSession): OpenSession => {
    const found = open.get(session);
    if (found === undefined) throw new Error('the session has not begun');
    return found;
  };
  /** Runs a command and replies to it. */
  const reply = <Result>(
    command: CountedCommand,
    callback: (error: Error | null, result?: Result) => void,
    work: () => Promise<Result>,
  ): Promise<void> =>
    work().then(
      (result) => {
        metrics.replied(command, command === 'AUTH' ? 235 : 250);
        callback(null, result);
      },
      (error: unknown) => {
        if (!isExpected(error)) log.error({ err: error }, 'a submission failed');
        else if (error instanceof Fault && error.code === 'IO_EXCEPTION')
          log.warn({ err: error.cause }, 'a submission was not accepted; the client will retry');
        const reply = toSubmissionReply(error);
        if (!isLostConnection(error)) metrics.replied(command, reply.code);
        callback(toReplyError(reply));
      },
    );
  return {
    onConnect(session, callback) {
      session.disabledCommands = session.secure ? disabledWithTls : disabledWithoutTls;
      open.set(session, {
        session: new SubmissionSession(dependencies, session.remoteAddress),
        maxBytes: 0,
        isStoring: false,
      });
      callback();
    },
    onSecure(_socket, session, callback) {
      session.disabledCommands = disabledWithTls;
      callback();
    },
    onAuth({ username, password }, session, callback) {
      return reply('AUTH', callback, async () => {
        const state = sessionOf(session);
        const { account } = await state.session.login(username ?? '', password ?? '');
        const usage = server().usageOf(session);
        // The client has disconnected.
        if (usage === undefined) return { user: account.id };
        const evictable = {
          progress: () => (state.isStoring ? Number.POSITIVE_INFINITY : usage.done),
          evict: () => usage.evict(),
        };
        state.login = logins.tryAcquire(account.id, { evictable });
        if (state.login === undefined) throw new SubmissionRefusal('tooManySessions');
        usage.beginLogin(clock.now());
        return { user: account.id };
      });
    },
    onMailFrom({ args }, session, callback) {
      return reply('MAIL', callback, async () => {
        const state = sessionOf(session);
        if (!session.user) throw new SubmissionRefusal('loginRequired');
        if (server().usageOf(session)?.beginMessage(clock.now()) === false)
          throw new SubmissionRefusal('tooManyMessages');
        state.maxBytes = Math.min(await state.session.beginMessage(), maxAttachmentLimit);
        if (announcedBytes(args) > state.maxBytes) throw tooLarge(state.maxBytes);
      });
    },
    onRcptTo({ address }, session, callback) {
      const { smtpUtf8 = false } = session.envelope;
      return reply('RCPT', callback, () =>
        sessionOf(session).session.checkRecipient(address, smtpUtf8),
      );
    },
    onData(stream, session, callback) {
      const state = sessionOf(session);
      const { session: submission, maxBytes } = state;
      const { mailFrom, rcptTo, smtpUtf8 = false } = session.envelope;
      const receive = async (span: TraceSpan | undefined): Promise<string> => {
        const limits = {
          accountId: (await submission.admit()).account.id,
          maxBytes,
          announcedBytes: mailFrom === false ? 0 : announcedBytes(mailFrom.args),
        };
        try {
          const { messageId } = await receiver.receive(stream, limits, (message) => {
            state.isStoring = true;
            return submission.submit(
              message,
              rcptTo.map(({ address }) => address),
              {
                helo: session.hostNameAppearsAs || '',
                remoteAddress: session.remoteAddress,
                sessionId: session.id,
                hostname: dependencies.hostname ?? osHostname(),
                usesUtf8: smtpUtf8,
                receivedAt: new Date(clock.now()),
              },
              span,
            );
          });
          return `Accepted as ${messageId}`;
        } finally {
          state.isStoring = false;
          server().usageOf(session)?.endMessage(clock.now());
        }
      };
      return reply('DATA', callback, () => traceSubmission(tracing, rcptTo.length, receive));
    },
    onClose(session) {
      open.get(session)?.login?.release();
    },
  };
}

/** True for refusals, and for clients that leave in the middle of a message. */
function isExpected(error: unknown): boolean {
  return error instanceof Fault || error instanceof SubmissionRefusal || isLostConnection(error);
}

/** The SIZE parameter of MAIL, which smtp-server lets pass only as a number (RFC 1870); 0 without it. */
function announcedBytes(args: object | false): number {
  return args !== false && 'SIZE' in args ? Number(args.SIZE) : 0;
}
