import type { AccessModule } from '../access/access-module.ts';
import type { AccountDirectory } from '../account/account-directory.ts';
import type { BackupSettings } from '../backup/backup-target.ts';
import type { ChangeListener } from '../foundation/change-listener.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { Limiter } from '../foundation/limiter.ts';
import type { Log } from '../foundation/log.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import type { InboxStore } from '../inbox/inbox-store.ts';
import type { AttachmentStore } from '../message/attachment-store.ts';
import type { ReplyAddresses } from '../message/reply-address.ts';
import type { QueueControlStore } from '../queue/control-store.ts';
import type { LoadedTemplate } from '../rendering/load-template.ts';
import type { SenderVerification } from '../sender/sender-verification.ts';
import type { SendingDomains } from '../sender/sending-domains.ts';
import type { BrowserSessions } from '../session/browser/browser-sessions.ts';
import type { SubmissionEndpoint } from '../smtp-submission/submission-endpoint.ts';
import type { AcceptOutcome, AcceptRow } from '../submission/accept-row.ts';
import type { TemplateDirectory } from '../template/template-directory.ts';
import type { AccountEvents } from '../webhook/account-events.ts';
import type { Webhooks } from '../webhook/webhook-module.ts';
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
  /** Stores a message the way the send operation does. */
  accept(row: AcceptRow): Promise<AcceptOutcome>;
  /** Undefined if mail isn't captured. */
  readonly inbox: InboxStore | undefined;
  publicUrl(): string;
}
