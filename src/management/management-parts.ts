import type { AccessRoom } from '../access/access-room.ts';
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
import type { DomainCare } from '../sender/domain-care.ts';
import type { SenderProofs } from '../sender/sender-proofs.ts';
import type { Browser } from '../session/browser/browser.ts';
import type { Invitations } from '../session/invitation/invitations.ts';
import type { AcceptRow, Outcome } from '../submission/accept-row.ts';
import type { TemplateDirectory } from '../template/template-directory.ts';
import type { Webhooks } from '../webhook/webhook-room.ts';
import type { RunningImports } from './import/running-imports.ts';

/** Settings of the installation that people may see. */
export interface InstallationFacts {
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
export interface ManagementParts {
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
  readonly access: Pick<AccessRoom, 'authenticator' | 'facts'>;
  readonly browser: Pick<Browser, 'personOf' | 'signIn'>;
  readonly imports: RunningImports;
  readonly accounts: Pick<AccountDirectory, 'account' | 'memberships'>;
  readonly templates: Pick<TemplateDirectory<LoadedTemplate>, 'version'>;
  readonly invitations: Pick<Invitations, 'offered' | 'invite'>;
  readonly senderProofs: Pick<SenderProofs, 'request'>;
  readonly domains: Pick<DomainCare, 'add' | 'rotate' | 'keys' | 'records' | 'check'>;
  readonly webhooks: Pick<Webhooks, 'box' | 'networks' | 'resume' | 'replay'>;
  readonly controls: Pick<
    QueueControlStore,
    'control' | 'pausedDestinations' | 'release' | 'setPause'
  >;
  /** Stores a message as the send operation does. */
  accept(row: AcceptRow): Promise<Outcome>;
  /** Undefined where mail is not captured. */
  readonly inbox: InboxStore | undefined;
  publicUrl(): string;
}
