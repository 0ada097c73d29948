import type { AccessModule } from '../../accounts/access/access-module.ts';
import type { AccountDirectory } from '../../accounts/account/account-directory.ts';
import type { SenderVerification } from '../../accounts/sender/sender-verification.ts';
import type { SendingDomains } from '../../accounts/sender/sending-domains.ts';
import type { BrowserSessions } from '../../accounts/sign-in/browser/browser-sessions.ts';
import type { ChangeListener } from '../../base/database/change-listener.ts';
import type { Database } from '../../base/database/open-database.ts';
import type { Limiter } from '../../base/fairness/limiter.ts';
import type { PublicNetworks } from '../../base/network/public-networks.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import type { Clock } from '../../base/values/clock.ts';
import type { Log } from '../../base/values/log.ts';
import type { AttachmentStore } from '../../content/message/attachment-store.ts';
import type { GuardedLinks } from '../../content/message/guarded-link.ts';
import type { ReplyAddresses } from '../../content/message/reply-address.ts';
import type { LoadedTemplate } from '../../content/rendering/load-template.ts';
import type { TemplateDirectory } from '../../content/template/template-directory.ts';
import type { BackupSettings } from '../../host/backup/backup-target.ts';
import type { AccountEvents } from '../../outcomes/webhook/account-events.ts';
import type { Webhooks } from '../../outcomes/webhook/webhook-module.ts';
import type { InboxReaders } from '../../sending/inbox/inbox-access.ts';
import type { InboxStore } from '../../sending/inbox/inbox-store.ts';
import type { QueueControlStore } from '../../sending/queue/control-store.ts';
import type { SubmissionEndpoint } from '../../sending/smtp-submission/submission-endpoint.ts';
import type { AcceptOutcome, AcceptRow } from '../../sending/submission/accept-row.ts';
import type { RunningImports } from './import/running-imports.ts';

/** Settings of the installation that signed-in people can see. */
interface InstallationFacts {
  readonly version: string;
  readonly delivery: 'inbox' | 'relay' | 'direct';
  readonly deliveryRedirect: string | undefined;
  readonly deliveryAllow: readonly string[];
  readonly hostname: string | undefined;
  /** The configured value; `publicUrl()` also covers the fallback. */
  readonly publicUrl: string | undefined;
  readonly direct: { readonly sources: readonly { readonly pool: string }[] };
  /** For the state of its backups. */
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  readonly backup: BackupSettings;
}

/** Dependencies of the management API. */
export interface ManagementDependencies {
  readonly facts: InstallationFacts;
  /** During a call: the account's share of the management connections. Before: the sending pool, for short lookups. */
  readonly database: Database;
  /** Without the API's statement timeout, for work that reads a whole account. */
  readonly unlimitedDatabase: Database;
  /** Queues changes of settings per account. */
  readonly changeSlots: Limiter;
  readonly changes: Pick<ChangeListener, 'catchUp'>;
  readonly key: MasterKey;
  readonly clock: Clock;
  readonly log: Log;
  readonly access: Pick<AccessModule, 'authenticator' | 'facts'>;
  readonly browser: Pick<BrowserSessions, 'findSignedIn' | 'signIn' | 'signOut'>;
  readonly imports: RunningImports;
  readonly accounts: Pick<AccountDirectory, 'account' | 'memberships'>;
  readonly templates: Pick<TemplateDirectory<LoadedTemplate>, 'localized' | 'version'>;
  /** Whether invitations and sender links can be sent. */
  readonly systemMailEnabled: boolean;
  readonly senderVerification: Pick<SenderVerification, 'request'>;
  readonly domains: Pick<
    SendingDomains,
    'add' | 'rotate' | 'keys' | 'records' | 'problems' | 'check'
  >;
  readonly webhooks: Pick<
    Webhooks,
    'box' | 'networks' | 'replayEvent' | 'replayPeriod' | 'resume' | 'sendTest'
  >;
  readonly outboxNetworks: PublicNetworks;
  readonly events: Pick<AccountEvents, 'latest' | 'listen' | 'read'>;
  readonly streams: Pick<Limiter, 'tryAcquire'>;
  /** Aborts when the service stops. */
  readonly stopping: AbortSignal;
  readonly controls: Pick<
    QueueControlStore,
    'control' | 'pausedDestinations' | 'release' | 'setPause'
  >;
  readonly attachments: Pick<AttachmentStore, 'keep' | 'open' | 'read' | 'save'>;
  /** Where programs submit messages over SMTP; undefined if it is off. */
  smtpSubmission(): SubmissionEndpoint | undefined;
  readonly replyAddresses: ReplyAddresses;
  readonly guardedLinks: GuardedLinks;
  /** Stores a message the way the send operation does. */
  accept(row: AcceptRow): Promise<AcceptOutcome>;
  /** Where mail isn't captured, it has test messages only. */
  readonly inbox: InboxStore;
  /** Knows who reads all captured mail without being signed in; undefined if mail isn't captured. */
  readonly inboxReaders: Pick<InboxReaders, 'find'> | undefined;
  publicUrl(): string;
}
