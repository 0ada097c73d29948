import { collectDefaultMetrics, Registry } from 'prom-client';
import packageFacts from '../package.json' with { type: 'json' };
import { createAccess } from './access/access-room.ts';
import { AccountDirectory } from './account/account-directory.ts';
import type { Config } from './config.ts';
import { registerConsoleRoutes } from './console/console-routes.ts';
import {
  createDeliveryRoom,
  createInboxTransport,
  createRelayTransport,
  relaySlots,
} from './delivery/delivery-room.ts';
import { createDirectRoom, directSlots } from './delivery/direct/direct-room.ts';
import { findRelayIdentity } from './delivery/find-identity.ts';
import type { FindVersion } from './delivery/prepare-mail.ts';
import { ReturnPaths } from './delivery/return-path.ts';
import { EventFeed } from './feedback/feed/event-feed.ts';
import { createFeedback } from './feedback/feedback-room.ts';
import { suppressBounced } from './feedback/suppression/suppress-bounced-store.ts';
import { ChangeListener } from './foundation/change-listener.ts';
import { type Clock, systemClock } from './foundation/clock.ts';
import { isCurrent } from './foundation/database/migrate.ts';
import type { Database } from './foundation/database/open-database.ts';
import { openSharedPool } from './foundation/database/shared-pool.ts';
import { DnsClient } from './foundation/dns/dns-client.ts';
import { chooseDnsServers } from './foundation/dns/dns-server.ts';
import type { Log } from './foundation/log.ts';
import type { MasterKey } from './foundation/master-key.ts';
import { createHttp, type Http } from './http/create-http.ts';
import { registerHealthRoutes } from './http/health-routes.ts';
import type { RouteLimit } from './http/limits/route-limit.ts';
import { routeLimits } from './http/limits/route-limits.ts';
import { registerMetricsRoutes } from './http/metrics-routes.ts';
import { publicUrl } from './http/public-url.ts';
import { registerInboxOffRoutes } from './inbox/inbox-off-routes.ts';
import { createInbox } from './inbox/inbox-room.ts';
import { registerListRoutes } from './list/list-routes.ts';
import { managementLimits } from './management/management-limits.ts';
import { createManagement } from './management/management-room.ts';
import { noteTemplateCalls } from './management/template/template-call-store.ts';
import { loadTemplate } from './rendering/load-template.ts';
import { ReportUpkeep } from './report/report-upkeep.ts';
import { rollUp } from './report/roll-up-store.ts';
import { writeSearchRows } from './report/search-rows-store.ts';
import { DkimKeyStore } from './sender/dkim-key-store.ts';
import { DomainCare } from './sender/domain-care.ts';
import { DomainDirectory } from './sender/domain-directory.ts';
import { SenderDirectory } from './sender/sender-directory.ts';
import { SenderProofs } from './sender/sender-proofs.ts';
import { serviceNames } from './sender/service-names.ts';
import { registerVerifySenderRoutes } from './sender/verify-sender-routes.ts';
import { IntegrationDirectory } from './session/integration-directory.ts';
import { createSession } from './session/session-room.ts';
import { createSubmission } from './submission/submission-room.ts';
import { createSystemMail } from './system-mail/system-mail-room.ts';
import { TemplateDirectory } from './template/template-directory.ts';
import { createWebhooks } from './webhook/webhook-room.ts';

/** What a node does: answer HTTP, deliver messages. */
export type Role = 'http' | 'worker';

export interface AppParts {
  readonly config: Config;
  readonly database: Database;
  readonly key: MasterKey;
  readonly log: Log;
  readonly clock?: Clock;
  /** Both where not given. */
  readonly roles?: ReadonlySet<Role>;
  /** How many processes share the node's cores, this one included; one where not given. */
  readonly processes?: number;
  /** Where several processes share the port: joins this one's numbers with theirs, and reads all of them. */
  readonly shareMetrics?: (own: Registry) => () => Promise<string>;
  /** Limits of routes that are registered beside the service's own. */
  readonly moreRoutes?: readonly RouteLimit[];
}

/** The service, wired but not listening: routes on `http`, workers behind `start`. */
export interface App {
  readonly http: Http;
  /** The port of the inbox's SMTP server on 127.0.0.1; undefined before `start`, and where mail is not captured. */
  inboxPort(): number | undefined;
  /** The port of the SMTP server for bounces and complaints; undefined before `start`, and without BOUNCE_PORT. */
  reportPort(): number | undefined;
  /** Starts what works in the background. */
  start(): Promise<void>;
  /** Stops accepting and finishes what is being accepted and sent. The database stays open: its opener closes it. */
  stop(): Promise<void>;
}

/** Fewer in each process of a node, so that a server of usual settings has room for all of them. */
function managementConnections(processes = 1): number {
  return processes <= 2 ? 6 : 3;
}

/** The only wiring: configuration and database in, rooms connected, HTTP out. */
export function createApp(parts: AppParts): App {
  const { config, database, key, log } = parts;
  const clock = parts.clock ?? systemClock;
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  const changes = new ChangeListener(database.settings, log);
  const accounts = new AccountDirectory(database, changes);
  const access = createAccess({ database, key, changes, clock, log, accounts });
  const senders = new SenderDirectory(database, changes);
  const integrations = new IntegrationDirectory(database, changes);
  const templates = new TemplateDirectory(database, changes, loadTemplate);
  const systemMailOffered = config.systemMailFrom !== undefined;
  const session = createSession({
    database,
    key,
    clock,
    log,
    integrations,
    publicUrl: () => publicUrl(http, config.publicUrl),
    systemMailOffered,
    processes: parts.processes,
    auditDays: config.auditDays,
  });
  const inbox =
    config.delivery === 'inbox'
      ? createInbox({ database, clock, log, token: config.inboxToken, browser: session.browser })
      : undefined;
  const findVersion: FindVersion = (accountId, templateId, version) =>
    templates.version(accountId, templateId, version);
  const domainKeys = new DkimKeyStore(key);
  const domains = new DomainDirectory(database, changes, domainKeys);
  const feedback = createFeedback({
    database,
    clock,
    log,
    key,
    changes,
    findVersion,
    publicUrl: () => publicUrl(http, config.publicUrl),
    keepAddresses: config.keepReaderAddresses,
    smtpUrl: config.smtpUrl,
    hostname: config.hostname,
    reports: config.reports,
    intake: config.intake,
    findTrackingHost: async (accountId, fromDomain) => {
      const domain = await domains.find(accountId, fromDomain);
      return domain?.state === 'verified' && domain.trackingReady ? domain.trackingHost : undefined;
    },
  });
  const dnsServers = chooseDnsServers(config.dnsServers);
  const domainCare = new DomainCare({
    database,
    dns: new DnsClient(dnsServers),
    keys: domainKeys,
    service: serviceNames(config),
    log,
  });
  const direct =
    config.delivery === 'direct'
      ? createDirectRoom({
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
  const delivery = createDeliveryRoom({
    database,
    clock,
    log,
    metrics,
    findVersion,
    dress: feedback.dress,
    staging: { redirect: config.deliveryRedirect, allow: config.deliveryAllow },
    findIdentity:
      direct?.findIdentity ?? findRelayIdentity(domains, config.reports && new ReturnPaths(key)),
    worker: { slots: direct === undefined ? relaySlots(config.smtpUrl) : directSlots },
    createTransport: () => {
      if (direct !== undefined) return direct.transport;
      return config.smtpUrl === undefined
        ? createInboxTransport(inbox?.port() ?? 0, relay)
        : createRelayTransport(config.smtpUrl, relay);
    },
  });
  const submission = createSubmission({
    database,
    clock,
    log,
    metrics,
    access,
    accounts,
    senders,
    templates,
    onAccepted: (accountIds) => {
      for (const accountId of accountIds) delivery.wake(accountId);
    },
  });
  const systemMail = createSystemMail({
    database,
    key,
    log,
    changes,
    from: config.systemMailFrom,
    publicUrl: () => publicUrl(http, config.publicUrl),
    sendOwn: (accountId, templateId, message) => submission.sendOwn(accountId, templateId, message),
  });
  const senderProofs = new SenderProofs({ database, clock, key, offered: systemMailOffered });
  const webhooks = createWebhooks({
    database,
    clock,
    log,
    key,
    allowedNetworks: config.webhookNetworks,
  });
  const feed = new EventFeed({
    database,
    log,
    // Search is last, as it takes its time.
    followers: [suppressBounced, rollUp, noteTemplateCalls, webhooks.follower, writeSearchRows],
  });
  const reportUpkeep = new ReportUpkeep({ database, clock, log });
  const http = createHttp({
    log,
    trustProxy: config.trustProxy,
    routes: [...routeLimits, ...managementLimits, ...(parts.moreRoutes ?? [])],
    connections: config.connections,
    https: config.publicUrl?.startsWith('https:') ?? false,
  });

  registerConsoleRoutes(http);
  registerHealthRoutes(http, async () =>
    (await isCurrent(database)) ? undefined : 'the database lacks migrations of this release',
  );
  const readMetrics = parts.shareMetrics?.(metrics) ?? (() => metrics.metrics());
  registerMetricsRoutes(http, readMetrics, config.metrics);
  session.registerRoutes(http);
  submission.registerRoutes(http);
  feedback.registerRoutes(http);
  registerVerifySenderRoutes(http, senderProofs);
  registerListRoutes(http, {
    database,
    accounts,
    ...access,
  });

  const connections = openSharedPool(database, managementConnections(parts.processes));
  const management = createManagement({
    facts: { ...config, version: packageFacts.version },
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
    domains: domainCare,
    senderProofs,
    invitations: session.invitations,
    webhooks,
    accept: (row) => submission.accept(row),
    publicUrl: () => publicUrl(http, config.publicUrl),
  });
  management.registerRoutes(http);

  if (inbox === undefined) registerInboxOffRoutes(http);
  else inbox.registerRoutes(http);

  return {
    http,
    inboxPort: () => inbox?.port(),
    reportPort: () => feedback.reportPort(),
    async start() {
      for (const sentence of config.retired) log.warn(sentence);
      await changes.start();
      access.start();
      session.start();
      await submission.start();
      await inbox?.start();
      await feedback.start();
      if (parts.roles === undefined || parts.roles.has('worker')) {
        await direct?.start();
        delivery.start();
        domainCare.start();
        await webhooks.start();
        feed.start();
        systemMail.start();
        reportUpkeep.start();
      }
    },
    async stop() {
      await http.close();
      await management.stop();
      await connections.close();
      await systemMail.stop();
      await submission.stop();
      await domainCare.stop();
      await delivery.stop();
      await direct?.stop();
      await feedback.stop();
      await feed.stop();
      await reportUpkeep.stop();
      await webhooks.stop();
      await session.stop();
      await access.stop();
      await inbox?.stop();
      await changes.close();
    },
  };
}
