import { LRUCache } from 'lru-cache';
import { Counter, type Registry } from 'prom-client';
import type { Database, Kysely } from '../base/database/open-database.ts';
import type { DnsServer } from '../base/dns/dns-server.ts';
import type { HostNames } from '../base/dns/host-names.ts';
import type { SmtpListener } from '../base/network/smtp-listener.ts';
import type { MasterKey } from '../base/secrets/master-key.ts';
import { metricOptions } from '../base/telemetry/metrics-table.ts';
import type { Tracing } from '../base/telemetry/tracing.ts';
import { PeriodicTask } from '../base/threads/periodic-task.ts';
import type { Clock } from '../base/values/clock.ts';
import { domainOf } from '../base/values/email-address.ts';
import type { AccountId } from '../base/values/ids.ts';
import type { Log } from '../base/values/log.ts';
import type { AttachmentStore } from '../content/message/attachment-store.ts';
import { linkValues } from '../content/message/guarded-link.ts';
import type { ReplyAddresses } from '../content/message/reply-address.ts';
import type { Http } from '../host/http/create-http.ts';
import {
  type CertificateFiles,
  LiveCertificate,
  registerCertificateMetrics,
} from '../host/http/tls/live-certificate.ts';
import type { DecorateMail, FindVersion } from '../sending/delivery/prepare-mail.ts';
import { ReturnPaths } from '../sending/delivery/return-path.ts';
import { type FeedbackEvent, writeFeedbackEvents } from './bounce/feedback-event-store.ts';
import { RateLimit } from './bounce/rate-limit.ts';
import { traceReports } from './bounce/trace-reports.ts';
import {
  type GuardedLinkRouteDependencies,
  registerGuardedLinkRoutes,
} from './guarded-link/guarded-link-routes.ts';
import { DeliveryTokens } from './relay/delivery-tokens.ts';
import { fetchText } from './relay/fetch-text.ts';
import { type IntakeSecrets, registerIntakeRoutes } from './relay/intake-routes.ts';
import { matchReports } from './relay/match-reports.ts';
import { consumeToken } from './relay/relay-delivery-store.ts';
import type { RelayReport } from './relay/relay-event.ts';
import { relayHeaders } from './relay/relay-headers.ts';
import { type CountReply, replyResults } from './reply/reply-refusal.ts';
import { deleteOldData } from './retention/delete-old-data.ts';
import { TestTrimmer } from './retention/trim-tests.ts';
import { registerClickRoute, registerOpenRoute } from './tracking/click-routes.ts';
import { writeEngagements } from './tracking/engagement-store.ts';
import { EngagementWriter } from './tracking/engagement-writer.ts';
import { trackMessage, trackRawMessage } from './tracking/track-message.ts';
import { TrackingTokens } from './tracking/tracking-tokens.ts';
import { unsubscribeDecoration } from './unsubscribe/unsubscribe-decoration.ts';
import { registerUnsubscribeRoutes } from './unsubscribe/unsubscribe-routes.ts';
import { UnsubscribeTokens } from './unsubscribe/unsubscribe-token.ts';

const kinds: readonly FeedbackEvent['kind'][] = [
  'bounced',
  'complained',
  'delayed',
  'unsubscribed',
];

/** As events name them. */
const reporters = ['mail', 'Amazon SES', 'Postmark', 'Mailgun', 'SendGrid'];

/**
 * Registers the metrics of feedback.
 * @returns callbacks for received reports and replies
 */
function registerFeedbackMetrics(registry: Registry): {
  readonly countReports: (events: readonly FeedbackEvent[]) => void;
  /** @param by who reports: a relay, or `mail` */
  readonly countUnmatched: (by: string) => void;
  readonly countReply: CountReply;
} {
  const reports = new Counter(metricOptions('signalpost_feedback_reports_total', registry));
  for (const kind of kinds) reports.inc({ kind }, 0);
  const unmatched = new Counter(metricOptions('signalpost_unmatched_reports_total', registry));
  for (const by of reporters) unmatched.inc({ by }, 0);
  const replies = new Counter(metricOptions('signalpost_replies_total', registry));
  for (const result of replyResults) replies.inc({ result }, 0);
  const replyBytes = new Counter(metricOptions('signalpost_reply_bytes_total', registry));
  return {
    countReports(events) {
      for (const { kind } of events) reports.inc({ kind });
    },
    countUnmatched(by) {
      unmatched.inc({ by });
    },
    countReply(result, bytes = 0) {
      replies.inc({ result });
      replyBytes.inc(bytes);
    },
  };
}

const hourMs = 60 * 60 * 1_000;

export interface FeedbackDependencies extends GuardedLinkRouteDependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
  readonly key: MasterKey;
  readonly findVersion: FindVersion;
  /** The public URL, without a trailing slash. */
  readonly publicUrl: () => string;
  /** Store full reader addresses. */
  readonly keepAddresses: boolean;
  readonly smtpUrl: string | undefined;
  readonly hostname: string | undefined;
  /** Server that receives mail to return paths and reply addresses; undefined for none. */
  readonly bounceServer: BounceServerSettings | undefined;
  readonly attachments: Pick<AttachmentStore, 'save'>;
  readonly replyAddresses: ReplyAddresses;
  /** For checking who replies are from. */
  readonly dnsServers: readonly DnsServer[];
  /** For fetching the certificates of relays. */
  readonly hostNames: HostNames;
  /** From `memoryShare`. */
  readonly memoryShare: number;
  readonly intake: IntakeSecrets;
  /** Undefined: reports aren't traced. */
  readonly tracing: Tracing | undefined;
  /** The tracking host configured for a sending domain, or undefined. */
  readonly findTrackingHost: (
    accountId: AccountId,
    fromDomain: string,
  ) => Promise<string | undefined>;
}

/** The SMTP server for bounces and complaints. */
interface BounceServerSettings {
  readonly host: string;
  readonly port: number;
  readonly tls: CertificateFiles | undefined;
}

/**
 * Feedback after delivery.
 * @throws OperatorError if the certificate of the bounce server can't be used
 */
export function createFeedback(dependencies: FeedbackDependencies) {
  const { database, clock, log, key } = dependencies;
  const tokens = new TrackingTokens(key);
  const unsubscribeTokens = new UnsubscribeTokens(key);
  const writer = new EngagementWriter({
    write: (items, decide) => writeEngagements(database, items, decide),
    log,
  });
  const warnings = new RateLimit(1);
  const { countReports, countUnmatched, countReply } = registerFeedbackMetrics(
    dependencies.metrics,
  );
  const tls = dependencies.bounceServer?.tls;
  const certificate = tls && new LiveCertificate({ files: tls, log });
  if (certificate !== undefined)
    registerCertificateMetrics(dependencies.metrics, certificate, 'bounce');
  let unmatchedReports = 0;
  const reportersWarned = new Set<string>();
  const noteUnmatched = (reports: readonly Pick<RelayReport, 'kind' | 'detail'>[]): void => {
    unmatchedReports += reports.length;
    for (const { kind, detail } of reports) {
      const by = String(detail.by);
      countUnmatched(by);
      if (reportersWarned.has(by)) continue;
      reportersWarned.add(by);
      log.warn({ by, kind }, 'a report matches no message; more of them are only counted');
    }
  };
  const writeWith = async (kysely: Kysely, events: readonly FeedbackEvent[]): Promise<void> => {
    const { past, unmatched } = await writeFeedbackEvents(kysely, events);
    countReports(events);
    noteUnmatched(unmatched);
    if (past > 0 && warnings.consume('reports', clock.now()))
      log.warn(
        { past, messageId: events[0]?.messageId },
        'dropped feedback events over the limit per message',
      );
  };
  const reportTracing = { tracing: dependencies.tracing, kysely: database.kysely, log };
  const write = (events: readonly FeedbackEvent[]): Promise<void> =>
    traceReports(reportTracing, events, () => writeWith(database.kysely, events));
  const deliveryTokens = new DeliveryTokens(key);
  const headersFor = relayHeaders(dependencies.smtpUrl, dependencies.intake);
  const match = async (reports: readonly RelayReport[]): Promise<readonly FeedbackEvent[]> => {
    const { events, unmatched } = await matchReports(database.kysely, deliveryTokens, reports);
    noteUnmatched(unmatched);
    return events;
  };
  const writeOnce = async (token: string, reports: readonly RelayReport[]): Promise<void> => {
    const events = await match(reports);
    await traceReports(reportTracing, events, () =>
      database.kysely.transaction().execute(async (transaction) => {
        if (await consumeToken(transaction, token)) await writeWith(transaction, events);
      }),
    );
  };
  const returnPaths = new ReturnPaths(key);
  // Also caches that there is none; otherwise every message would query the sending domains.
  const hosts = new LRUCache<string, { readonly host: string | undefined }>({
    max: 10_000,
    ttl: 5_000,
  });
  const baseOf = async (accountId: AccountId, fromDomain: string): Promise<string> => {
    const key = `${accountId}/${fromDomain}`;
    const cached = hosts.get(key);
    const host =
      cached === undefined
        ? await dependencies.findTrackingHost(accountId, fromDomain)
        : cached.host;
    if (cached === undefined) hosts.set(key, { host });
    return host === undefined ? dependencies.publicUrl() : `https://${host}`;
  };
  let server: SmtpListener | undefined;
  const tests = new TestTrimmer(database.kysely, log);
  const upkeep = new PeriodicTask(hourMs, () => deleteOldData(database, log));
  /** Adds guarded, tracking and unsubscribe links to a message before it is sent. */
  const decorate: DecorateMail = async (message, content, template) => {
    // The most common kind of message contains no tracking or unsubscribe link, so it skips the lookup.
    const hasLinks =
      message.trackOpens || message.trackClicks || !message.transactional || content.guarded;
    const base = hasLinks ? await baseOf(message.accountId, domainOf(content.from.address)) : '';
    const unsubscribe = unsubscribeDecoration(unsubscribeTokens, base, message, content);
    const forRelay = headersFor(deliveryTokens.make(message.accountId, message.messageId));
    return {
      ...(template === undefined
        ? trackRawMessage(tokens, base, message)
        : trackMessage(tokens, base, message, content, template)),
      values: { ...(content.guarded && linkValues(base, content)), ...unsubscribe.values },
      headerLines: [...(unsubscribe.headerLines ?? []), ...forRelay],
    };
  };
  return {
    /** Starts the bounce server, if configured, and data cleanup. */
    async start(): Promise<void> {
      upkeep.start();
      if (dependencies.bounceServer === undefined) return;
      certificate?.start();
      const { startBounceServer } = await import('./bounce/start-bounce-server.ts');
      const { createReplyIntake } = await import('./reply/receive-reply.ts');
      const { createReplyReader } = await import('./reply/reply-reader.ts');
      const { attachments, dnsServers, hostname, memoryShare } = dependencies;
      server = await startBounceServer({
        ...dependencies.bounceServer,
        certificate,
        hostname,
        readReturnPath: (address) => returnPaths.read(address),
        write,
        replies: createReplyIntake({
          database,
          addresses: dependencies.replyAddresses,
          attachments,
          read: createReplyReader(dnsServers, hostname),
          isReturnPath: (address) => returnPaths.read(address) !== undefined,
          count: countReply,
        }),
        countReply,
        memoryShare,
        clock,
        log,
      });
    },
    /** Reports that matched no message since this process started. */
    unmatchedReports: () => unmatchedReports,
    /** The bounce server's port; undefined before `start` or if not configured. */
    bouncePort: () => server?.port,
    decorate,
    /** Deletes what accounts that have just sent test messages have too many of. */
    trimTests: (accountIds: Iterable<AccountId>) => tests.trim(accountIds),
    registerRoutes(http: Http): void {
      const { findVersion, keepAddresses } = dependencies;
      const record = writer.add.bind(writer);
      registerClickRoute(http, { tokens, findVersion, keepAddresses, record });
      registerOpenRoute(http, { tokens, keepAddresses, record });
      registerIntakeRoutes(http, {
        secrets: dependencies.intake,
        clock,
        fetchText: (url) => fetchText(url, dependencies.hostNames),
        write: async (reports) => write(await match(reports)),
        writeOnce,
      });
      registerGuardedLinkRoutes(http, dependencies);
      registerUnsubscribeRoutes(http, { tokens: unsubscribeTokens, database });
    },
    /** Writes pending events. Call it after HTTP is closed. */
    async stop(): Promise<void> {
      certificate?.stop();
      await server?.stop();
      await upkeep.stop();
      await tests.stop();
      await writer.stop();
    },
  };
}
