import type { SignInSettings } from '../../accounts/access/authorize.ts';
import type { ClientSecretHasher } from '../../accounts/oauth/authenticate-client.ts';
import type { DatabaseTransaction } from '../../base/database/open-database.ts';
import type { PublicNetworks } from '../../base/network/public-networks.ts';
import type { MasterKey } from '../../base/secrets/master-key.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { CompiledContents } from './compiled-contents.ts';
import type { ManifestPath, ProblemCollector } from './manifest-problems.ts';

type Kind = 'account' | 'user' | 'sender' | 'integration' | 'template' | 'list' | 'outbox_source';

export type ChangeAction = 'created' | 'changed' | 'unchanged' | 'removed';

/** The outcome for a resource that a manifest names, or no longer names. */
export interface ManifestChange {
  readonly account: AccountId;
  readonly kind: Kind;
  /** The id, email address or client id. */
  readonly id: string;
  readonly action: ChangeAction;
  /** Its path in the manifest; undefined if it is removed. */
  readonly path: ManifestPath | undefined;
  /** Details for people, such as "version 2" or template warnings. */
  readonly notes: readonly string[];
  /** The changed members, if tracked. */
  readonly changed?: readonly string[];
}

/** What happens to a resource; `run` is absent if there is nothing to do. */
export interface Plan extends Pick<ManifestChange, 'action' | 'notes' | 'changed'> {
  readonly run?: () => Promise<unknown>;
}

/** A change with the function that makes it. */
export interface PlannedChange extends ManifestChange, Plan {}

export interface ApplyOptions {
  /** By default, those of an installation without a provider. */
  readonly signIn?: SignInSettings;
  /** What outbox sources may be in; default: public networks only. */
  readonly outboxNetworks?: PublicNetworks;
  /** Removes resources that the manifest doesn't name, within the accounts it names. */
  readonly prune?: boolean;
  /** Applies everything, then rolls back. */
  readonly dryRun?: boolean;
}

/** Dependencies of planning, which reads in the same transaction that later makes the changes. */
export interface PlanContext {
  readonly transaction: DatabaseTransaction;
  readonly key: MasterKey;
  readonly secrets: ClientSecretHasher;
  readonly problems: ProblemCollector;
  readonly options: ApplyOptions;
  /** Compiled contents of changed templates. */
  readonly contents: CompiledContents;
}

/** Dependencies of planning what an account has. */
export interface AccountPlanContext extends PlanContext {
  readonly accountId: AccountId;
}
