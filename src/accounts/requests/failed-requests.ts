import type { Database } from '../../base/database/open-database.ts';
import { PeriodicTask } from '../../base/threads/periodic-task.ts';
import type { AccountId, ClientId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import type { FailedRequest } from '../../host/http/request-log.ts';
import type { AccessModule } from '../access/access-module.ts';
import { addFailures, type StoredFailure } from './failed-request-store.ts';

const intervalMs = 1_000;
/** Until the next write: of one account, so that its failures can't push out those of others, and of all. */
const maxOfAccount = 500;
const maxWaiting = 5_000;

const maxDetails = 10;
const maxFieldLength = 100;
const maxReasonLength = 200;
/** What a reason quotes of a request; the end may be cut off. */
const quotedPattern = /"[^"]*"?|“[^“”]*”?/g;

interface FailedRequestsDependencies extends Pick<AccessModule, 'authenticator' | 'facts'> {
  readonly database: Pick<Database, 'kysely'>;
  readonly log: Log;
}

/** Who a failure belongs to. */
type FailureOwner = Pick<StoredFailure, 'accountId' | 'clientId'>;

/**
 * Keeps the requests that failed although their credential is valid, for the developers of its account: what failed where and
 * why, without the body and without values. Written once a second; a process that is killed loses the last ones.
 */
export class FailedRequests {
  readonly #dependencies: FailedRequestsDependencies;
  readonly #task: PeriodicTask;
  #waiting: StoredFailure[] = [];
  #waitingOf = new Map<AccountId, number>();

  constructor(dependencies: FailedRequestsDependencies) {
    this.#dependencies = dependencies;
    this.#task = new PeriodicTask(intervalMs, () => this.#write());
  }

  start(): void {
    this.#task.start();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
    await this.#write();
  }

  /** Never throws or blocks. */
  async add(failed: FailedRequest): Promise<void> {
    try {
      const owner = await this.#findOwner(failed);
      if (owner === undefined || this.#waiting.length >= maxWaiting) return;
      const waiting = this.#waitingOf.get(owner.accountId) ?? 0;
      if (waiting >= maxOfAccount) return;
      this.#waitingOf.set(owner.accountId, waiting + 1);
      this.#waiting.push(toStoredFailure(failed, owner));
    } catch (error) {
      this.#dependencies.log.warn({ err: error }, 'could not find who made a failed request');
    }
  }

  async #findOwner({ credential, accountId }: FailedRequest): Promise<FailureOwner | undefined> {
    if ('clientId' in credential) return credential;
    const { authenticator, facts } = this.#dependencies;
    const caller = await authenticator.authenticate(credential.authorization);
    if (caller === undefined) return undefined;
    if (caller.kind === 'key') return { ...caller.reach, clientId: caller.keyId as ClientId };
    const { reach, personId, clientId } = caller;
    if (reach !== 'all') return { ...reach, clientId };
    // The token of a person who may have several accounts.
    const isMember = accountId && (await facts.membership(personId, accountId)) !== undefined;
    return isMember ? { accountId, clientId } : undefined;
  }

  async #write(): Promise<void> {
    const failures = this.#waiting;
    if (failures.length === 0) return;
    this.#waiting = [];
    this.#waitingOf = new Map();
    try {
      await addFailures(this.#dependencies.database.kysely, failures);
    } catch (error) {
      this.#dependencies.log.warn({ err: error }, 'could not keep failed requests');
    }
  }
}

/** What is kept of a failed request: names and reasons, shortened and without values. */
export function toStoredFailure(failed: FailedRequest, owner: FailureOwner): StoredFailure {
  const { requestId: id, method = '', route = '', status, error, details } = failed;
  const shown = details.slice(0, maxDetails).map(({ field, reason }) => ({
    field: withoutValues(field, maxFieldLength),
    reason: withoutValues(reason, maxReasonLength),
  }));
  return { ...owner, id, method, route, status, error, details: shown };
}

/** Without addresses, which can be members of a request, and without what the database can't store. */
function withoutValues(text: string, maxLength: number): string {
  const words = text.slice(0, maxLength).replaceAll('\0', '').replaceAll(quotedPattern, '…');
  return words
    .split(' ')
    .map((word) => (word.includes('@') ? '…' : word))
    .join(' ')
    .toWellFormed();
}
