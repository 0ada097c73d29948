import type { DatabaseTransaction } from '../foundation/database/open-database.ts';
import type { AccountId } from '../foundation/ids.ts';
import type { ClientSecretHasher } from '../session/client-secret.ts';
import type { CompiledContents } from './compiled-contents.ts';
import type { ManifestPath } from './manifest-path.ts';
import type { ProblemCollector } from './manifest-problems.ts';

type ChangeKind = 'account' | 'user' | 'sender' | 'integration' | 'template' | 'list';

export type ChangeAction = 'created' | 'changed' | 'unchanged' | 'removed';

/** What becomes of one thing that a manifest names, or no longer names. */
export interface ManifestChange {
  readonly account: AccountId;
  readonly kind: ChangeKind;
  /** The id, e-mail address or client id. */
  readonly id: string;
  readonly action: ChangeAction;
  /** Where the manifest names it; undefined for what is removed. */
  readonly path: ManifestPath | undefined;
  /** What a person may want to know: "version 2", warnings of a template. */
  readonly notes: readonly string[];
  /** Which members of it change, where that is told one by one. */
  readonly changed?: readonly string[];
}

/** A change and how it is made; `run` is absent where there is nothing to do. */
export interface PlannedChange extends ManifestChange {
  readonly run?: () => Promise<void>;
}

export interface ApplyOptions {
  /** Removes what the manifest does not name, in the accounts that it names. */
  readonly prune?: boolean;
  /** Does everything, then takes it back. */
  readonly dryRun?: boolean;
}

/** What planning needs: it reads in the transaction in which the changes are made afterwards. */
export interface PlanContext {
  readonly transaction: DatabaseTransaction;
  readonly secrets: ClientSecretHasher;
  readonly problems: ProblemCollector;
  readonly options: ApplyOptions;
  /** Of templates whose content is new. */
  readonly contents: CompiledContents;
}

/** The ids among `existing` that the manifest does not name, where it is to be pruned. */
export function toRemove<Thing>(
  context: PlanContext,
  existing: readonly Thing[],
  isNamed: (thing: Thing) => boolean,
): readonly Thing[] {
  return context.options.prune === true ? existing.filter((thing) => !isNamed(thing)) : [];
}
