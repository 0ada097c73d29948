import type { Database } from '../../base/database/open-database.ts';
import { PeriodicTask } from '../../base/threads/periodic-task.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import type { FailedRequest } from '../../host/http/request-log.ts';
import type { AccessModule } from '../access/access-module.ts';
import { clientIdOf, personOf } from '../access/principal.ts';
import { addFailures, type StoredFailure } from './failed-request-store.ts';

const intervalMs = 1_000;
/** Until the next write: of one account, so that its failures hardly push out its own earlier ones and those of others; of all. */
const maxOfAccount = 50;
const maxWaiting = 2_000;
/** Callers that are looked up at a time: in an outage, nobody waits for the database to say whose request failed. */
const maxLookups = 100;

const maxDetails = 10;
const maxFieldLength = 100;
const maxReasonLength = 200;
/** Of what is searched for values. */
const maxReadLength = 4_000;

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
  #lookups = 0;

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
    // 503: the service was overloaded or without its database, which has nothing to do with the request.
    if (failed.status === 503 || this.#lookups >= maxLookups) return;
    this.#lookups += 1;
    try {
      const owner = await this.#findOwner(failed);
      if (owner === undefined || this.#waiting.length >= maxWaiting) return;
      const waiting = this.#waitingOf.get(owner.accountId) ?? 0;
      if (waiting >= maxOfAccount) return;
      this.#waitingOf.set(owner.accountId, waiting + 1);
      this.#waiting.push(toStoredFailure(failed, owner));
    } catch (error) {
      this.#dependencies.log.warn({ err: error }, 'could not find who made a failed request');
    } finally {
      this.#lookups -= 1;
    }
  }

  async #findOwner({ credential, accountId }: FailedRequest): Promise<FailureOwner | undefined> {
    if ('clientId' in credential) return credential;
    const { authenticator, facts } = this.#dependencies;
    const caller = await authenticator.authenticate(credential.authorization);
    if (caller === undefined) return undefined;
    const clientId = clientIdOf(caller);
    const personId = personOf(caller);
    if (caller.reach !== 'all') return { ...caller.reach, clientId };
    // The token of a person who may have several accounts.
    if (personId === undefined || accountId === undefined) return undefined;
    return (await facts.membership(personId, accountId)) && { accountId, clientId };
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
  const distinct = new Map(shown.map((detail) => [JSON.stringify(detail), detail]));
  return { ...owner, id, method, route, status, error, details: [...distinct.values()] };
}

/** Without addresses, which can be members of a request, what is quoted of it, and what the database can't store. */
function withoutValues(text: string, maxLength: number): string {
  // A word that is cut off may be half of an address.
  const whole =
    text.length <= maxReadLength ? text : text.slice(0, text.lastIndexOf(' ', maxReadLength) + 1);
  return withoutQuotes(whole)
    .split(' ')
    .map((word) => (word !== '@' && /@|%40/.test(word) ? '…' : word))
    .join(' ')
    .replaceAll('\0', '')
    .slice(0, maxLength)
    .toWellFormed();
}

/** A quoted value may have quotes itself, so everything between the first and the last one goes. */
function withoutQuotes(text: string): string {
  const first = text.search(/["“]/);
  if (first === -1) return text;
  const last = Math.max(text.lastIndexOf('"'), text.lastIndexOf('”'));
  return `${text.slice(0, first)}…${last > first ? text.slice(last + 1) : ''}`;
}
