import type { AccessModule } from '../access/access-module.ts';
import type { AccountDirectory } from '../account/account-directory.ts';
import type { ChangeListener } from '../foundation/change-listener.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { FairSlots } from '../foundation/fair-slots.ts';
import type { Log } from '../foundation/log.ts';
import type { MasterKey } from '../foundation/master-key.ts';
import type { InboxStore } from '../inbox/inbox-store.ts';
import type { QueueControlStore } from '../queue/control-store.ts';
import type { LoadedTemplate } from '../rendering/load-template.ts';
import type { SenderVerification } from '../sender/sender-verification.ts';
import type { SendingDomains } from '../sender/sending-domains.ts';
import type { BrowserSessions } from '../session/browser/browser-sessions.ts';
import type { Invitations } from '../session/invitation/invitations.ts';
import type { AcceptOutcome, AcceptRow } from '../submission/accept-row.ts';
import type { TemplateDirectory } from '../template/template-directory.ts';
import type { Webhooks } from '../webhook/webhook-module.ts';
import type { RunningImports } from './import/running-imports.ts';

/** Settings of the installation that people may see. */
interface InstallationFacts {
  readonly version: string;
  readonly delivery: 'inbox' | 'relay' | 'direct';
  readonly deliveryRedirect: string | undefined;
  readonly deliveryAllow: readonly string[];
  readonly hostname: string | undefined;
  /** As it was set; the address that is used instead where it was not is `publicUrl()`. */
  readonly publicUrl: string | undefined;
  readonly direct: { readonly sources: readonly { readonly pool: string }[] };
}

/** What the management API works with. */
export interface ManagementDependencies {
  readonly facts: InstallationFacts;
  /** In a call: the account's share of the connections for management. Before one: that of sending, for short look-ups. */
  readonly database: Database;
  /** Without the API's limit on how long a statement takes: for what reads all that an account has. */
  readonly unlimitedDatabase: Database;
  /** Changes of settings wait here, by account. */
  readonly changeSlots: FairSlots;
  readonly changes: Pick<ChangeListener, 'catchUp'>;
  readonly key: MasterKey;
  readonly clock: Clock;
  readonly log: Log;
  readonly access: Pick<AccessModule, 'authenticator' | 'facts'>;
  readonly browser: Pick<BrowserSessions, 'findSignedIn' | 'signIn'>;
  readonly imports: RunningImports;
  readonly accounts: Pick<AccountDirectory, 'account' | 'memberships'>;
  readonly templates: Pick<TemplateDirectory<LoadedTemplate>, 'version'>;
  readonly invitations: Pick<Invitations, 'mailEnabled' | 'invite'>;
  readonly senderVerification: Pick<SenderVerification, 'request'>;
  readonly domains: Pick<SendingDomains, 'add' | 'rotate' | 'keys' | 'records' | 'check'>;
  readonly webhooks: Pick<Webhooks, 'box' | 'networks' | 'resume' | 'replay'>;
  readonly controls: Pick<
    QueueControlStore,
    'control' | 'pausedDestinations' | 'release' | 'setPause'
  >;
  /** Stores a message as the send operation does. */
  accept(row: AcceptRow): Promise<AcceptOutcome>;
  /** Undefined where mail is not captured. */
  readonly inbox: InboxStore | undefined;
  publicUrl(): string;
}
