import { collectDefaultMetrics, Registry } from 'prom-client';
import packageJson from '../package.json' with { type: 'json' };
import { createAccessModule } from './accounts/access/access-module.ts';
import { AccountDirectory } from './accounts/account/account-directory.ts';
import { AuditLines } from './accounts/audit/audit-lines.ts';
import { IntegrationDirectory } from './accounts/oauth/integration-directory.ts';
import { FailedRequests } from './accounts/requests/failed-requests.ts';
import { DkimKeyStore } from './accounts/sender/dkim-key-store.ts';
import { DomainDirectory, SenderDirectory } from './accounts/sender/sender-directory.ts';
import { SenderVerification } from './accounts/sender/sender-verification.ts';
import { registerSendingDomainMetrics, SendingDomains } from './accounts/sender/sending-domains.ts';
import { replyHostFinder, serviceNames } from './accounts/sender/service-names.ts';
import { registerVerifySenderRoutes } from './accounts/sender/verify-sender-routes.ts';
import { createSessionModule } from './accounts/session-module.ts';
import { ChangeListener } from './base/database/change-listener.ts';
import { isSchemaCurrent } from './base/database/migrate.ts';
import type { Database } from './base/database/open-database.ts';
import { openSharedPool } from './base/database/shared-pool.ts';
import { DnsCache, DnsClient } from './base/dns/dns-client.ts';
import { chooseDnsServers } from './base/dns/dns-server.ts';
import { HostNames } from './base/dns/host-names.ts';
import { Limiter } from './base/fairness/limiter.ts';
import { memoryShare } from './base/fairness/memory-share.ts';
import { policies } from './base/fairness/policies.ts';
import type { MasterKey } from './base/secrets/master-key.ts';
import { delayResolutionMs } from './base/telemetry/metrics-table.ts';
import { registerNodeMetrics } from './base/telemetry/node-metrics.ts';
import type { Tracing } from './base/telemetry/tracing.ts';
import { type NodeRole, nodeRoles } from './base/threads/node-role.ts';
import { ProcessReport } from './base/threads/process-report.ts';
import { type Clock, systemClock } from './base/values/clock.ts';
import type { Log } from './base/values/log.ts';
import { hostedImagePrefix } from './content/hosted-image/hosted-image-path.ts';
import { registerHostedImageRoute } from './content/hosted-image/hosted-image-routes.ts';
import { registerListRoutes } from './content/list/list-routes.ts';
import { AttachmentStore } from './content/message/attachment-store.ts';
import { GuardedLinks } from './content/message/guarded-link.ts';
import { ReplyAddresses } from './content/message/reply-address.ts';
import { loadMeasurable } from './content/rendering/measure-mail.ts';
import { TemplateDirectory } from './content/template/template-directory.ts';
import { dropInLimits, registerDropIns } from './drop-in/drop-ins.ts';
import { registerConsoleRoutes } from './host/console-server/console-routes.ts';
import { registerBrandRoutes } from './host/http/brand-routes.ts';
import { createHttp, type Http } from './host/http/create-http.ts';
import { type RouteLimit, routeLimits } from './host/http/limits/route-limits.ts';
import { registerHealthRoutes, registerMetricsRoutes } from './host/http/operations-routes.ts';
import { publicUrl } from './host/http/public-url.ts';
import { AccessLog } from './host/http/request-log.ts';
import { LiveCertificate, registerCertificateMetrics } from './host/http/tls/live-certificate.ts';
import { type Config, signInSettingsOf } from './operating/config/config.ts';
import { managementLimits } from './operating/management/management-limits.ts';
import { createManagement } from './operating/management/management-module.ts';
import { createOutbox } from './outbox/outbox-module.ts';
import { suppressBounced } from './outcomes/bounce/suppress-bounced-store.ts';
import { EventFeed } from './outcomes/feed/event-feed.ts';
import { withMessageLines } from './outcomes/feed/log-message-events.ts';
import { createFeedback } from './outcomes/feedback-module.ts';
import { deliveredState } from './outcomes/progress/describe-progress.ts';
import { registerProgressRoutes } from './outcomes/progress/progress-routes.ts';
import { createReportUpkeep } from './outcomes/report/report-upkeep.ts';
import { rollUp } from './outcomes/report/roll-up-store.ts';
import { writeSearchRows } from './outcomes/report/search-rows-store.ts';
import { followSubjects } from './outcomes/report/subject-words-store.ts';
import { recordTemplateUsage } from './outcomes/report/template-usage-store.ts';
import { AccountEvents, followAccountEvents } from './outcomes/webhook/account-events.ts';
import { createWebhooks } from './outcomes/webhook/webhook-module.ts';
import {
  createDeliveryModule,
  createInboxTransport,
  createRelayTransport,
  relaySlots,
} from './sending/delivery/delivery-module.ts';
import { createDirectModule, directSlots } from './sending/delivery/direct/direct-module.ts';
import { findRelayIdentity } from './sending/delivery/find-identity.ts';
import { ReturnPaths } from './sending/delivery/return-path.ts';
import { captureTests } from './sending/inbox/capture-tests.ts';
import { createInbox } from './sending/inbox/inbox-module.ts';
import { registerInboxOffRoutes } from './sending/inbox/inbox-routes.ts';
import { InboxStore } from './sending/inbox/inbox-store.ts';
import {
  createSmtpSubmission,
  type SmtpSubmission,
} from './sending/smtp-submission/smtp-submission-module.ts';
import { CustomHeaderRules } from './sending/submission/custom-headers.ts';
import { StatusLinks } from './sending/submission/status-link.ts';
import { createSubmission } from './sending/submission/submission-module.ts';
import { createSystemMailer } from './sending/system-mail/send-system-mail.ts';

export interface AppDependencies {
  readonly config: Config;
  readonly database: Database;
  readonly key: MasterKey;
  readonly log: Log;
  readonly clock?: Clock;
  /** All by default. */
  readonly roles?: ReadonlySet<NodeRole>;
  /** Number of processes that share the node's cores, including this one; one by default. */
  readonly processes?: number;
  /**
   * Set if several processes share the port: merges this process's metrics with theirs and returns a reader for all.
   */
  readonly shareMetrics?: (own: Registry) => () => Promise<string>;
  /** Adds metrics of the node to those of the service. */
  readonly registerMetrics?: (registry: Registry) => void;
  /** Limits of routes registered in addition to the service's own. */
  readonly moreRoutes?: readonly RouteLimit[];
  /** Undefined: nothing is traced. Closed at the end of `stop`. */
  readonly tracing?: Tracing | undefined;
}

/** The service, wired but not listening: routes on `http`, workers behind `start`. */
export interface App {
  readonly http: Http;
  /** The port of the inbox's SMTP server on 127.0.0.1; undefined before `start`, or if mail doesn't go to the inbox. */
  inboxPort(): number | undefined;
  /** The port of the SMTP server for bounces and complaints; undefined before `start`, or without BOUNCE_PORT. */
  bouncePort(): number | undefined;
  /** The ports of SMTP submission; undefined before `start`, or without SUBMISSION_PORT and SUBMISSION_TLS_PORT. */
  submissionPorts(): ReturnType<SmtpSubmission['ports']>;
  /** Starts background work. */
  start(): Promise<void>;
  /** Stops accepting requests and finishes those in progress. The caller closes the database. */
  stop(): Promise<void>;
}

/** Connections of this process; fewer if there are many processes, so that PostgreSQL's default limit is enough for all. */
function managementConnections(processes = 1): number {
  return processes <= 2 ? 6 : 3;
}

/** Wires the whole service: configuration and database in, modules connected, HTTP out. */
export function createApp(dependencies: AppDependencies): App {
  const { config, database, key, log, tracing, roles = new Set(nodeRoles) } = dependencies;
  const clock = dependencies.clock ?? systemClock;
  const share = memoryShare(dependencies.processes);
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics, eventLoopMonitoringPrecision: delayResolutionMs });
  registerNodeMetrics(metrics, { ...config, database, log });
  registerSendingDomainMetrics(metrics, database, log);
  const certificate = config.tls && new LiveCertificate({ files: config.tls, log });
  if (certificate !== undefined) registerCertificateMetrics(metrics, certificate);
  dependencies.registerMetrics?.(metrics);
  const changes = new ChangeListener(database.settings, log);
  const accounts = new AccountDirectory(database, changes);
  const access = createAccessModule({
    database,
    key,
    changes,
    clock,
    log,
    accounts,
    signIn: signInSettingsOf(config),
  });
  const failedRequests = new FailedRequests({ ...access, database, log });
  const senders = new SenderDirectory(database, changes);
  const integrations = new IntegrationDirectory(database, changes);
  const templates = new TemplateDirectory(database, changes, loadMeasurable, share);
  const attachments = new AttachmentStore(database.settings);
  const systemMailEnabled = config.systemMailFrom !== undefined;
  const dnsServers = chooseDnsServers(config.dnsServers);
  const dns = new DnsClient(dnsServers);
  const hostNames = new HostNames(new DnsCache(dns, clock), clock);
  const session = createSessionModule({
    database,
    key,
    clock,
    log,
    integrations,
    facts: access.facts,
    publicUrl: () => publicUrl(http, config.publicUrl),
    systemMailEnabled,
    processes: dependencies.processes,
    auditDays: config.auditDays,
    sessionIdleHours: config.sessionIdleHours,
    passwordMemory: config.passwordMemory,
    signInProvider: config.signInProvider,
    providerNetworks: config.webhookNetworks,
    hostNames,
  });
  const streams = new Limiter(policies.streams);
  const inbox =
    config.delivery === 'inbox'
      ? createInbox({
          database,
          clock,
          key,
          log,
          token: config.inboxToken,
          facts: access.facts,
          browser: session.browser,
        })
      : undefined;
  const domainKeys = new DkimKeyStore(key);
  const domains = new DomainDirectory(database, changes, domainKeys);
  const replyAddresses = new ReplyAddresses(key);
  const guardedLinks = new GuardedLinks(key);
  const feedback = createFeedback({
    database,
    clock,
    log,
    metrics,
    key,
    findVersion: (...ref) => templates.sent(...ref),
    publicUrl: () => publicUrl(http, config.publicUrl),
    keepAddresses: config.keepReaderAddresses,
    smtpUrl: config.smtpUrl,
    hostname: config.hostname,
    bounceServer: roles.has('smtp') ? config.bounceServer : undefined,
    attachments,
    replyAddresses,
    guardedLinks,
    findAccount: (accountId) => accounts.account(accountId),
    dnsServers,
    hostNames,
    memoryShare: share,
    intake: config.intake,
    tracing,
    findTrackingHost: async (accountId, fromDomain) => {
      const domain = await domains.find(accountId, fromDomain);
      return domain?.state === 'verified' && domain.trackingReady ? domain.trackingHost : undefined;
    },
  });
  const sendingDomains = new SendingDomains({
    database,
    dns,
    keys: domainKeys,
    service: serviceNames(config),
    log,
  });
  const direct =
    config.delivery === 'direct'
      ? createDirectModule({
          database,
          clock,
          log,
          key,
          domains,
          dnsServers,
          hostname: config.hostname ?? '',
          sources: config.direct.sources,
          port: config.direct.port,
          allowLoopback: config.direct.loopback,
          allowedNetworks: config.direct.networks,
        })
      : undefined;
  const relay = { name: config.hostname };
  const delivery = createDeliveryModule({
    database,
    changes,
    senders,
    templates,
    clock,
    log,
    metrics,
    findVersion: (...ref) => templates.localized(...ref),
    attachments,
    decorate: feedback.decorate,
    staging: { redirect: config.deliveryRedirect, allow: config.deliveryAllow },
    findIdentity:
      direct?.findIdentity ??
      findRelayIdentity(domains, config.bounceServer && new ReturnPaths(key)),
    memoryShare: share,
    worker: { slots: direct === undefined ? relaySlots(config.smtpUrl) : directSlots },
    tracing,
    onRecorded: () => wakeFeeds(),
    testTransport: captureTests({
      store: new InboxStore(database),
      arrivals: inbox?.arrivals,
      log,
    }),
    createTransport: () => {
      if (direct !== undefined) return direct.transport;
      return config.smtpUrl === undefined
        ? createInboxTransport(inbox?.port() ?? 0, relay)
        : createRelayTransport(config.smtpUrl, relay);
    },
  });
  const statusLinks = new StatusLinks(key, () => publicUrl(http, config.publicUrl));
  const submission = createSubmission({
    database,
    clock,
    log,
    metrics,
    access,
    accounts,
    senders,
    templates,
    refusedHeaders: config.refusedHeaders,
    replyAddresses,
    guardedLinks,
    findReplyHost: replyHostFinder(config, domains),
    statusLinks,
    attachments,
    attachmentSettings: config.attachments,
    onAccepted: (accountIds) => {
      for (const accountId of accountIds) delivery.wake(accountId);
      wakeFeeds();
    },
    onTests: (accountIds) => feedback.trimTests(accountIds),
  });
  const smtpSubmission = createSmtpSubmission({
    settings: config.smtpSubmission,
    isOpen: roles.has('smtp'),
    hostname: config.hostname,
    publicUrl: config.publicUrl,
    database,
    access,
    attachmentSettings: config.attachments,
    send: (admitted) => submission.send(admitted),
    sendRaw: (right, message) => submission.sendRaw(right, message),
    refusedHeaders: config.refusedHeaders,
    memoryShare: share,
    metrics,
    tracing,
    clock,
    log,
  });
  const systemMail = createSystemMailer({
    database,
    key,
    clock,
    log,
    changes,
    from: config.systemMailFrom,
    publicUrl: () => publicUrl(http, config.publicUrl),
    sendOwn: (accountId, templateId, message) =>
      submission.sendServiceMessage(accountId, templateId, message),
  });
  const senderVerification = new SenderVerification({
    database,
    clock,
    key,
    mailEnabled: systemMailEnabled,
  });
  const webhooks = createWebhooks({
    database,
    clock,
    log,
    key,
    changes,
    allowedNetworks: config.webhookNetworks,
    hostNames,
    tracing,
    attachments,
    publicUrl: () => publicUrl(http, config.publicUrl),
  });
  const outbox = createOutbox({
    database,
    log,
    metrics,
    key,
    accounts,
    changes,
    submission,
    networks: config.outboxNetworks,
    hostNames,
  });
  const events = new AccountEvents({ database, changes, log });
  const { messages: loggedMessages } = config.logLines;
  const feeds = [
    // Alone, because webhooks wait for it, and the others take long for many events.
    [
      loggedMessages === undefined
        ? followAccountEvents
        : withMessageLines(followAccountEvents, log, loggedMessages === 'addresses'),
    ],
    // Search comes last because it is slow.
    [suppressBounced, rollUp, recordTemplateUsage, writeSearchRows, followSubjects(templates)],
  ].map((followers) => new EventFeed({ database, log, followers }));
  const wakeFeeds = () => {
    for (const feed of feeds) feed.wake();
  };
  const reportUpkeep = createReportUpkeep({ database, clock, log });
  const auditLines = config.logLines.audit ? new AuditLines(database, log) : undefined;
  const http = createHttp({
    log,
    certificate,
    trustProxy: config.trustProxy,
    routes: [
      ...routeLimits,
      ...dropInLimits,
      ...managementLimits,
      ...(dependencies.moreRoutes ?? []),
    ],
    connections: config.connections,
    memoryShare: share,
    crossOrigins: config.crossOrigins,
    hostPrefixes: config.dropInHosts,
    https: certificate !== undefined || config.publicUrl?.startsWith('https:') === true,
    tracing,
    access: config.logLines.access ? new AccessLog(log) : undefined,
    onFailed: (request) => void failedRequests.add(request),
    misdirected: describeMisdirected(roles),
  });

  registerHealthRoutes(http, async () => {
    if (http.draining.isOn) return 'the node is stopping';
    return (await isSchemaCurrent(database))
      ? undefined
      : 'the database needs this release’s migrations';
  });
  const readMetrics = dependencies.shareMetrics?.(metrics) ?? (() => metrics.metrics());
  registerMetricsRoutes(http, readMetrics, config.metrics);
  const connections = openSharedPool(database, managementConnections(dependencies.processes));
  const processReport = new ProcessReport({
    database,
    log,
    metrics,
    version: packageJson.version,
    roles: [...roles],
    inFlight: () => delivery.inFlight(),
    unreadForwarded: () => http.peers.unread,
    unmatchedReports: () => feedback.unmatchedReports(),
  });
  const management = createManagement({
    facts: { ...config, version: packageJson.version },
    database,
    connections,
    changes,
    key,
    clock,
    log,
    access,
    browser: session.browser,
    accounts,
    templates,
    attachments,
    replyAddresses,
    guardedLinks,
    domains: sendingDomains,
    senderVerification,
    systemMailEnabled,
    webhooks,
    outboxNetworks: config.outboxNetworks,
    events,
    streams,
    inboxReaders: inbox?.readers,
    accept: (row) => submission.accept(row),
    publicUrl: () => publicUrl(http, config.publicUrl),
    smtpSubmission: () => smtpSubmission.endpoint(),
  });
  // People sign in to both: programs' access tokens come from the consent of a person.
  if (roles.has('http') || roles.has('management')) {
    registerBrandRoutes(http);
    session.registerRoutes(http);
  }
  if (roles.has('http')) {
    submission.registerRoutes(http);
    registerDropIns(http, {
      access,
      submission,
      database,
      attachments,
      attachmentSettings: config.attachments,
      headerRules: new CustomHeaderRules(config.refusedHeaders),
      templates,
      domains: sendingDomains,
      key,
      clock,
      publicUrl: () => publicUrl(http, config.publicUrl),
    });
    feedback.registerRoutes(http);
    const delivered = deliveredState(config.delivery, config.deliveryRedirect);
    registerProgressRoutes(http, { links: statusLinks, database, delivered });
    registerVerifySenderRoutes(http, senderVerification);
    registerHostedImageRoute(http, { database, attachments, memoryShare: share });
    registerListRoutes(http, { database, accounts, ...access });
  }
  if (roles.has('management')) {
    const hostedImages = () => `${publicUrl(http, config.publicUrl)}${hostedImagePrefix}`;
    registerConsoleRoutes(http, hostedImages);
    management.registerRoutes(http);
    if (inbox === undefined) registerInboxOffRoutes(http);
    else inbox.registerRoutes(http);
  }

  return {
    http,
    inboxPort: () => inbox?.port(),
    bouncePort: () => feedback.bouncePort(),
    submissionPorts: () => smtpSubmission.ports(),
    async start() {
      for (const warning of config.settingWarnings) log.warn(warning);
      await changes.start();
      processReport.start();
      auditLines?.start();
      access.start();
      failedRequests.start();
      session.start();
      await submission.start();
      await inbox?.start();
      await feedback.start();
      await smtpSubmission.start();
      if (roles.has('worker')) {
        await direct?.start();
        delivery.start();
        sendingDomains.start();
        webhooks.start();
        for (const feed of feeds) feed.start();
        events.start();
        systemMail.start();
        reportUpkeep.start();
      }
      if (roles.has('outbox')) outbox.start();
    },
    async stop() {
      await Promise.all([http.close(), smtpSubmission.stop()]);
      await management.stop();
      await connections.close();
      await systemMail.stop();
      await outbox.stop();
      await submission.stop();
      await sendingDomains.stop();
      await delivery.stop();
      await direct?.stop();
      await feedback.stop();
      for (const feed of feeds) await feed.stop();
      await events.stop();
      await reportUpkeep.stop();
      await webhooks.stop();
      await session.stop();
      await failedRequests.stop();
      await access.stop();
      await auditLines?.stop();
      await inbox?.stop();
      await attachments.close();
      await processReport.stop();
      await changes.close();
      await tracing?.close();
    },
  };
}

/**
 * The error message for requests that this node doesn't serve but another node may.
 * @returns undefined if it serves everything over HTTP
 */
function describeMisdirected(roles: ReadonlySet<NodeRole>): string | undefined {
  const missing = (['http', 'management'] as const).filter((role) => !roles.has(role));
  if (missing.length === 0) return undefined;
  return `This node (--role ${[...roles].join(',')}) doesn’t serve this. Send the request to a node with the role ${missing.join(' or ')}.`;
}
