import { randomBytes } from 'node:crypto';
import { Gauge, type Registry } from 'prom-client';
import { lockPartForTransaction } from '../../base/database/advisory-locks.ts';
import { type Budget, BudgetUsedUp, useBudgets } from '../../base/database/budget-store.ts';
import type { CommitWith } from '../../base/database/commit-with.ts';
import type { Database, DatabaseTransaction } from '../../base/database/open-database.ts';
import type { Dns } from '../../base/dns/dns-client.ts';
import { metricOptions } from '../../base/telemetry/metrics-table.ts';
import { shareReading } from '../../base/telemetry/shared-reading.ts';
import { PeriodicTask } from '../../base/threads/periodic-task.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import { checkAccountLimits } from '../account/account-limit-store.ts';
import { checkRecord } from './check-record.ts';
import { type DkimAlgorithm, generateDkimKey } from './dkim-key.ts';
import type { DkimKeyStore } from './dkim-key-store.ts';
import { domainRecords } from './domain-records.ts';
import { verifySendersOfDomain } from './sender-verification-store.ts';
import {
  type DomainRecord,
  type DomainState,
  evaluateDomain,
  findZone,
  type PublicDkimKey,
  type SendingDomain,
  type ServiceNames,
} from './sending-domain.ts';
import {
  addSendingDomain,
  announceDomain,
  claimDueDomains,
  countSendingDomains,
  isTrackingHostReady,
  lockSendingDomain,
  postponeCheck,
  readFindings,
  readSendingDomain,
  type StoredDomainFinding,
  saveCheckResult,
} from './sending-domain-store.ts';
import { findNameProblems } from './service-names.ts';

interface SendingDomainsDependencies {
  readonly database: Database;
  /** Uncached, because a check needs the currently published records. */
  readonly dns: Dns;
  readonly keys: DkimKeyStore;
  readonly service: ServiceNames;
  readonly log: Log;
}

interface NewSendingDomainOptions {
  /** Also create an Ed25519 key (RFC 8463). */
  readonly ed25519?: boolean;
  /** First label of the return path host; default `bounces`. */
  readonly returnPathLabel?: string;
}

const checkIntervalMs = 30_000;
/** Domains checked at once, from different accounts. */
const checkBatchSize = 5;
/** Max records an account's checks look up per minute; background and on-demand checks count separately. */
const recordsPerMinute = 600;
/** How long to keep a retired key's record, because mail it signed may still be in transit (RFC 6376 section 3.6). */
const retiredKeyRetentionMs = 7 * 86_400_000;

type CheckReason = 'on demand' | 'in the background';

/** Limits the records that an account's checks look up. */
export function checkBudget(accountId: AccountId, asked: CheckReason): Budget {
  return { key: ['domain checks', asked, accountId], max: recordsPerMinute, seconds: 60 };
}

/** Adds sending domains, checks their records and rotates their keys, on request and in the background. */
export class SendingDomains {
  readonly #dependencies: SendingDomainsDependencies;
  readonly #checks = new PeriodicTask(checkIntervalMs, () => this.checkDue(), {
    onError: (error) =>
      this.#dependencies.log.warn({ err: error }, 'could not check sending domains'),
  });
  #stopped = false;

  constructor(dependencies: SendingDomainsDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Adds a domain with new keys, which start signing once their records are found.
   * @param domain in A-labels
   * @param commitWith committed in the same transaction
   * @returns false if the account already has it
   * @throws AccountLimitReached
   */
  async add(
    accountId: AccountId,
    domain: string,
    options: NewSendingDomainOptions = {},
    commitWith?: CommitWith,
  ): Promise<boolean> {
    const returnPath = `${options.returnPathLabel ?? 'bounces'}.${domain}`;
    return this.#addKeys(accountId, domain, options.ed25519 === true, commitWith, (transaction) =>
      addSendingDomain(transaction, accountId, domain, returnPath),
    );
  }

  /**
   * Creates new keys, which replace the old ones once their records are found.
   * @param commitWith committed in the same transaction
   * @returns false for an unknown domain
   * @throws AccountLimitReached if earlier keys still wait for their records
   */
  async rotate(accountId: AccountId, domain: string, commitWith?: CommitWith): Promise<boolean> {
    const { database, keys } = this.#dependencies;
    if ((await readSendingDomain(database.kysely, accountId, domain)) === undefined) return false;
    const existingKeys = await keys.list(database.kysely, accountId, domain);
    const ed25519 = existingKeys.some((key) => key.algorithm === 'ed25519-sha256');
    // It may have been removed in the meantime.
    return this.#addKeys(accountId, domain, ed25519, commitWith, (transaction) =>
      lockSendingDomain(transaction, accountId, domain),
    );
  }

  /** @param prepare returns false if there is no domain to add the keys to */
  async #addKeys(
    accountId: AccountId,
    domain: string,
    ed25519: boolean,
    commitWith: CommitWith | undefined,
    prepare: (transaction: DatabaseTransaction) => Promise<boolean>,
  ): Promise<boolean> {
    const { database, keys } = this.#dependencies;
    const newKeys = await generateKeys(ed25519);
    return database.kysely.transaction().execute(async (transaction) => {
      await lockPartForTransaction(transaction, accountId);
      if (!(await prepare(transaction))) return false;
      for (const { algorithm, selector, privateKey } of newKeys)
        await keys.add(transaction, accountId, domain, selector, algorithm, privateKey);
      await commitWith?.(transaction);
      await checkAccountLimits(database, transaction, accountId);
      return true;
    });
  }

  /** The public keys of a domain, oldest first. */
  keys(
    { accountId, domain }: SendingDomain,
    kysely = this.#dependencies.database.kysely,
  ): Promise<PublicDkimKey[]> {
    return this.#dependencies.keys.list(kysely, accountId, domain);
  }

  /** Settings that are missing for complete records. */
  problems(): ReturnType<typeof findNameProblems> {
    return findNameProblems(this.#dependencies.service);
  }

  /** The records a domain currently needs. */
  async records(
    domain: SendingDomain,
    kysely = this.#dependencies.database.kysely,
  ): Promise<DomainRecord[]> {
    return domainRecords(domain, await this.keys(domain, kysely), this.#dependencies.service);
  }

  /**
   * Checks a domain now.
   * @param asked why; each reason has its own budget
   * @returns the updated domain; undefined if it was removed in the meantime
   * @throws BudgetUsedUp if the account's checks looked up too much within a minute
   */
  async check(
    domain: SendingDomain,
    asked: CheckReason = 'on demand',
  ): Promise<SendingDomain | undefined> {
    const { database, dns, keys, service, log } = this.#dependencies;
    const { accountId, domain: name } = domain;
    const list = await keys.list(database.kysely, accountId, name);
    const records = domainRecords(domain, list, service);
    await this.#spend(accountId, records.length, asked);
    const [zone, ...findings] = await Promise.all([
      findZone(dns, name),
      ...records.map((record) => checkRecord(dns, record, service)),
    ]);
    const age = Date.now() - domain.stateAt.getTime();
    const evaluation = evaluateDomain(domain.state, domain.badChecks, list, findings, age);
    const saved = await database.kysely.transaction().execute(async (transaction) => {
      // The lookups take seconds, so it may have been removed.
      if (!(await lockSendingDomain(transaction, accountId, name))) return false;
      await keys.setState(transaction, accountId, name, evaluation.activate, 'active');
      await keys.setState(transaction, accountId, name, evaluation.retire, 'retired');
      const before = new Date(Date.now() - retiredKeyRetentionMs);
      await keys.removeRetired(transaction, accountId, name, before);
      const wasTrackingReady = await isTrackingHostReady(transaction, accountId, name);
      await saveCheckResult(transaction, domain, evaluation, findings, zone);
      if (evaluation.state === 'verified')
        await verifySendersOfDomain(transaction, accountId, name);
      const isTrackingReady = findings.some(
        ({ record, state }) => record.kind === 'tracking' && state === 'ok',
      );
      if (evaluation.state !== domain.state || isTrackingReady !== wasTrackingReady)
        await announceDomain(transaction, accountId, name);
      return true;
    });
    if (!saved) return undefined;
    if (evaluation.state !== domain.state) {
      const failing = findings.filter(({ state }) => state === 'missing' || state === 'wrong');
      const details = {
        accountId,
        domain: name,
        records: failing.map(({ record }) => record.name),
      };
      if (evaluation.state === 'broken') log.error(details, 'a sending domain is broken');
      else log.info({ accountId, domain: name }, `a sending domain is ${evaluation.state}`);
    }
    return await readSendingDomain(database.kysely, accountId, name);
  }

  async #spend(accountId: AccountId, records: number, asked: CheckReason): Promise<void> {
    const budget = checkBudget(accountId, asked);
    const { refused } = await this.#dependencies.database.kysely
      .transaction()
      .execute((transaction) => useBudgets(transaction, [budget], Math.min(records, budget.max)));
    if (refused !== undefined)
      throw new BudgetUsedUp(
        'The account checked its domains too often. Records take minutes to appear, and are checked without asking; retry in a minute',
        refused.retryAfter,
      );
  }

  /** Starts background checks; nodes share the work. */
  start(): void {
    this.#checks.start();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#checks.stop();
  }

  /**
   * Checks every domain that is due. Nodes claim a few at a time, so one that dies delays only those. Each is of another
   * account, so many domains or slow servers of one don't delay others.
   */
  async checkDue(): Promise<void> {
    while (!this.#stopped) {
      const due = await claimDueDomains(this.#dependencies.database.kysely, checkBatchSize);
      if (due.length === 0) return;
      await Promise.all(due.map((domain) => this.#checkOne(domain)));
    }
  }

  /** A failure of one domain, such as its removal, doesn't stop the others. */
  async #checkOne(domain: SendingDomain): Promise<void> {
    try {
      await this.check(domain, 'in the background');
    } catch (error) {
      const { accountId, domain: name } = domain;
      if (error instanceof BudgetUsedUp)
        return postponeCheck(this.#dependencies.database.kysely, accountId, name, error.retryAfter);
      this.#dependencies.log.warn(
        { err: error, accountId, domain: name },
        'could not check a sending domain',
      );
    }
  }
}

async function generateKeys(ed25519: boolean) {
  const algorithms: DkimAlgorithm[] = [
    'rsa-sha256',
    ...(ed25519 ? ['ed25519-sha256' as const] : []),
  ];
  const selectorPrefix = `sp${randomBytes(4).toString('hex')}`;
  return await Promise.all(
    algorithms.map(async (algorithm) => ({
      algorithm,
      selector: `${selectorPrefix}${algorithm === 'rsa-sha256' ? 'r' : 'e'}`,
      privateKey: await generateDkimKey(algorithm),
    })),
  );
}

/** A record to publish, with the finding of the last check; undefined before the first check. */
interface RecordWithFinding extends DomainRecord {
  readonly finding: StoredDomainFinding | undefined;
}

/** A domain's records with their findings. Queries run in sequence: a transaction has a single connection. */
export async function readRecordFindings(
  domains: Pick<SendingDomains, 'records'>,
  kysely: DatabaseTransaction,
  domain: SendingDomain,
): Promise<RecordWithFinding[]> {
  const records = await domains.records(domain, kysely);
  const findings = await readFindings(kysely, domain.accountId, domain.domain);
  return records.map((record) => ({
    ...record,
    finding: findings.find(({ kind, name }) => kind === record.kind && name === record.name),
  }));
}

const maxAgeMs = 60_000;
const states: readonly DomainState[] = ['pending', 'verified', 'broken'];

/** Registers the gauge of sending domains. It has no value if the database can't report it. */
export function registerSendingDomainMetrics(
  registry: Registry,
  database: Database,
  log: Log,
): void {
  const read = shareReading(() => countSendingDomains(database.kysely), {
    what: 'the sending domains',
    log,
    maxAgeMs,
  });
  new Gauge({
    ...metricOptions('signalpost_sending_domains', registry),
    async collect() {
      const counts = await read();
      if (counts === undefined) return this.reset();
      for (const state of states) this.set({ state }, counts.get(state) ?? 0);
    },
  });
}
