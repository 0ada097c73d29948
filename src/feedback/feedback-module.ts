import { LRUCache } from 'lru-cache';
import type { DecorateMail, FindVersion } from '../delivery/prepare-mail.ts';
import { ReturnPaths } from '../delivery/return-path.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { domainOf } from '../foundation/email-address.ts';
import type { AccountId } from '../foundation/ids.ts';
import type { Log } from '../foundation/log.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import type { Http } from '../http/create-http.ts';
import { type FeedbackEvent, writeFeedbackEvents } from './bounce/feedback-event-store.ts';
import { RateLimit } from './bounce/rate-limit.ts';
import type { BounceServer } from './bounce/start-bounce-server.ts';
import { PrivacyUpkeep } from './privacy/privacy-upkeep.ts';
import { fetchText } from './relay/fetch-text.ts';
import { type IntakeSecrets, registerIntakeRoutes } from './relay/intake-routes.ts';
import { relayHeaders } from './relay/relay-event.ts';
import { consumeToken } from './relay/spent-token-store.ts';
import { registerClickRoute } from './tracking/click-routes.ts';
import { writeEngagements } from './tracking/engagement-store.ts';
import { EngagementWriter } from './tracking/engagement-writer.ts';
import { registerOpenRoute } from './tracking/open-routes.ts';
import { trackMessage } from './tracking/track-message.ts';
import { TrackingTokens } from './tracking/tracking-tokens.ts';
import { unsubscribeDecoration } from './unsubscribe/unsubscribe-decoration.ts';
import { registerUnsubscribeRoutes } from './unsubscribe/unsubscribe-routes.ts';
import { UnsubscribeTokens } from './unsubscribe/unsubscribe-token.ts';

export interface FeedbackDependencies {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly key: MasterKey;
  readonly findVersion: FindVersion;
  /** The address that others see, without a trailing slash. */
  readonly publicUrl: () => string;
  /** Readers' addresses are kept whole. */
  readonly keepAddresses: boolean;
  readonly smtpUrl: string | undefined;
  readonly hostname: string | undefined;
  /** Where mail to return paths comes in; undefined: nowhere. */
  readonly bounceServer: BounceServerSettings | undefined;
  readonly intake: IntakeSecrets;
  /** The host for tracked links that a sending domain has set up, or undefined. */
  readonly findTrackingHost: (
    accountId: AccountId,
    fromDomain: string,
  ) => Promise<string | undefined>;
}

/** The SMTP server for reports; key and certificate are PEM. */
interface BounceServerSettings {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly key: string; readonly cert: string } | undefined;
}

/** What comes back after delivery, as the rest of the service sees it. */
export interface Feedback {
  /** Adds tracking and unsubscribing to a message that is about to be sent. */
  readonly decorate: DecorateMail;
  registerRoutes(http: Http): void;
  /** Opens the SMTP server for reports, where there is to be one. */
  start(): Promise<void>;
  /** The port that reports come in at; undefined before `start` and where there is none. */
  bouncePort(): number | undefined;
  /** Writes what waits. To be called when HTTP is closed. */
  stop(): Promise<void>;
}

/** Connects the parts of feedback with each other. */
export function createFeedback(dependencies: FeedbackDependencies): Feedback {
  const { database, clock, log, key } = dependencies;
  const tokens = new TrackingTokens(key);
  const unsubscribeTokens = new UnsubscribeTokens(key);
  const writer = new EngagementWriter({
    write: (items) => writeEngagements(database, items),
    log,
  });
  const warnings = new RateLimit(1);
  const writeWith = async (
    kysely: Database['kysely'],
    events: readonly FeedbackEvent[],
  ): Promise<void> => {
    const past = await writeFeedbackEvents(kysely, events);
    if (past > 0 && warnings.consume('reports', clock.now()))
      log.warn({ past, messageId: events[0]?.messageId }, 'messages have too many reports');
  };
  const write = (events: readonly FeedbackEvent[]): Promise<void> =>
    writeWith(database.kysely, events);
  const writeOnce = (token: string, events: readonly FeedbackEvent[]): Promise<void> =>
    database.kysely.transaction().execute(async (transaction) => {
      if (await consumeToken(transaction, token)) await writeWith(transaction, events);
    });
  const returnPaths = new ReturnPaths(key);
  // Also that there is none, which the directory of domains would ask for with every message.
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
  let server: BounceServer | undefined;
  const upkeep = new PrivacyUpkeep({ database, log });
  return {
    async start() {
      upkeep.start();
      if (dependencies.bounceServer === undefined) return;
      const { startBounceServer } = await import('./bounce/start-bounce-server.ts');
      server = await startBounceServer({
        ...dependencies.bounceServer,
        hostname: dependencies.hostname,
        readReturnPath: (address) => returnPaths.read(address),
        write,
        clock,
        log,
      });
    },
    bouncePort: () => server?.port,
    async decorate(message, content, template) {
      // Nothing of it needs an address: the most usual message pays for no look-up.
      const bare = !message.trackOpens && !message.trackClicks && message.transactional;
      const base = bare ? '' : await baseOf(message.accountId, domainOf(content.from.address));
      const unsubscribing = unsubscribeDecoration(unsubscribeTokens, base, message, content);
      const forRelay = relayHeaders(dependencies.smtpUrl, message.messageId);
      return {
        ...trackMessage(tokens, base, message, content, template),
        ...unsubscribing,
        headerLines: [...(unsubscribing.headerLines ?? []), ...forRelay],
      };
    },
    registerRoutes(http) {
      const { findVersion, keepAddresses } = dependencies;
      const record = writer.add.bind(writer);
      registerClickRoute(http, { tokens, clock, findVersion, keepAddresses, record });
      registerOpenRoute(http, { tokens, clock, keepAddresses, record });
      registerIntakeRoutes(http, {
        secrets: dependencies.intake,
        clock,
        fetchText,
        write,
        writeOnce,
      });
      registerUnsubscribeRoutes(http, { tokens: unsubscribeTokens, database });
    },
    async stop() {
      await server?.stop();
      await upkeep.stop();
      await writer.stop();
    },
  };
}
