import { randomBytes } from 'node:crypto';
import type { CommitWith } from '../foundation/database/commit-with.ts';
import type { Database } from '../foundation/database/open-database.ts';
import type { Dns } from '../foundation/dns/dns-answer.ts';
import type { AccountId } from '../foundation/ids.ts';
import type { Log } from '../foundation/log.ts';
import { checkRecord } from './check-record.ts';
import { type DkimAlgorithm, makeDkimKey } from './dkim-key.ts';
import type { DkimKeyStore } from './dkim-key-store.ts';
import { domainRecords } from './domain-records.ts';
import { judgeDomain } from './judge-domain.ts';
import type { DomainKey, DomainRecord, SendingDomain, ServiceNames } from './sending-domain.ts';
import {
  addDomain,
  holdDomain,
  isTrackingHostReady,
  readDomain,
  saveCheck,
  takeDueDomains,
} from './sending-domain-store.ts';
import { verifySendersOfDomain } from './verify-sender-store.ts';

export interface DomainCareParts {
  readonly database: Database;
  /** Without a memory: a check is about what is published now. */
  readonly dns: Dns;
  readonly keys: DkimKeyStore;
  readonly service: ServiceNames;
  readonly log: Log;
}

export interface NewDomain {
  /** An Ed25519 key beside the RSA one (RFC 8463). */
  readonly ed25519?: boolean;
  /** Label of the return path's host; `bounces` unless given. */
  readonly returnPathLabel?: string;
}

const lookMilliseconds = 30_000;
const domainsAtOnce = 5;
/** A retired key's record stays this long: what it signed may be queued somewhere on its way (RFC 6376 section 3.6). */
const overlapMilliseconds = 7 * 86_400_000;

/** Sets sending domains up, checks them, rotates their keys, and looks after them in the background. */
export class DomainCare {
  readonly #parts: DomainCareParts;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #stopped = false;

  constructor(parts: DomainCareParts) {
    this.#parts = parts;
  }

  /**
   * Adds a domain with keys of its own. Nothing is signed with them before their records are found.
   * @param domain in A-labels
   * @param commitWith what is committed with it
   * @returns false where the account has it already
   */
  async add(
    accountId: AccountId,
    domain: string,
    options: NewDomain = {},
    commitWith?: CommitWith,
  ): Promise<boolean> {
    const returnPath = `${options.returnPathLabel ?? 'bounces'}.${domain}`;
    const made = await makeKeys(options.ed25519 === true);
    return await this.#parts.database.kysely.transaction().execute(async (transaction) => {
      if (!(await addDomain(transaction, accountId, domain, returnPath))) return false;
      for (const { algorithm, selector, privateKey } of made)
        await this.#parts.keys.add(transaction, accountId, domain, selector, algorithm, privateKey);
      await commitWith?.(transaction);
      return true;
    });
  }

  /**
   * Makes new keys beside the old ones; they take over once their records are found.
   * @param commitWith what is committed with it
   * @returns false for an unknown domain
   */
  async rotate(accountId: AccountId, domain: string, commitWith?: CommitWith): Promise<boolean> {
    const { database, keys } = this.#parts;
    if ((await readDomain(database.kysely, accountId, domain)) === undefined) return false;
    const now = await keys.list(database.kysely, accountId, domain);
    const made = await makeKeys(now.some((key) => key.algorithm === 'ed25519-sha256'));
    return await database.kysely.transaction().execute(async (transaction) => {
      // It may have been removed since.
      if (!(await holdDomain(transaction, accountId, domain))) return false;
      for (const { algorithm, selector, privateKey } of made)
        await keys.add(transaction, accountId, domain, selector, algorithm, privateKey);
      await commitWith?.(transaction);
      return true;
    });
  }

  /** The keys of a domain without their private parts, oldest first. */
  keys(
    { accountId, domain }: SendingDomain,
    kysely = this.#parts.database.kysely,
  ): Promise<DomainKey[]> {
    return this.#parts.keys.list(kysely, accountId, domain);
  }

  /** The records that a domain needs now. */
  async records(
    domain: SendingDomain,
    kysely = this.#parts.database.kysely,
  ): Promise<DomainRecord[]> {
    return domainRecords(domain, await this.keys(domain, kysely), this.#parts.service);
  }

  /** Checks a domain now. @returns it as it is afterwards; undefined where it was removed meanwhile */
  async check(domain: SendingDomain): Promise<SendingDomain | undefined> {
    const { database, dns, keys, service, log } = this.#parts;
    const { accountId, domain: name } = domain;
    const list = await keys.list(database.kysely, accountId, name);
    const records = domainRecords(domain, list, service);
    const findings = await Promise.all(records.map((record) => checkRecord(dns, record, service)));
    const age = Date.now() - domain.stateAt.getTime();
    const judgement = judgeDomain(domain.state, domain.badChecks, list, findings, age);
    const held = await database.kysely.transaction().execute(async (transaction) => {
      // Looking its records up takes seconds.
      if (!(await holdDomain(transaction, accountId, name))) return false;
      await keys.move(transaction, accountId, name, judgement.activate, 'active');
      await keys.move(transaction, accountId, name, judgement.retire, 'retired');
      const before = new Date(Date.now() - overlapMilliseconds);
      await keys.removeRetired(transaction, accountId, name, before);
      const tracked = await isTrackingHostReady(transaction, accountId, name);
      await saveCheck(transaction, domain, judgement, findings);
      if (judgement.state === 'verified') await verifySendersOfDomain(transaction, accountId, name);
      const ready = findings.some(
        ({ record, state }) => record.kind === 'tracking' && state === 'ok',
      );
      if (judgement.state !== domain.state || ready !== tracked)
        await keys.announce(transaction, accountId, name);
      return true;
    });
    if (!held) return undefined;
    if (judgement.state !== domain.state) {
      const wrong = findings.filter(({ state }) => state === 'missing' || state === 'wrong');
      const report = { accountId, domain: name, records: wrong.map(({ record }) => record.name) };
      if (judgement.state === 'broken') log.error(report, 'a sending domain is broken');
      else log.info({ accountId, domain: name }, `a sending domain is ${judgement.state}`);
    }
    return await readDomain(database.kysely, accountId, name);
  }

  /** Begins looking after domains in the background; nodes share the work. */
  start(): void {
    this.#timer ??= setInterval(() => {
      this.#looking ??= this.checkDue()
        .catch((error: unknown) =>
          this.#parts.log.warn({ err: error }, 'sending domains cannot be checked'),
        )
        .finally(() => {
          this.#looking = undefined;
        });
    }, lookMilliseconds);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#looking;
  }

  /**
   * Checks every domain whose check is due. Each is taken by one node only, a few at a time, so that a node that dies or
   * stops loses none for long.
   */
  async checkDue(): Promise<void> {
    while (!this.#stopped) {
      const due = await takeDueDomains(this.#parts.database.kysely, domainsAtOnce);
      if (due.length === 0) return;
      for (const domain of due) await this.#checkOne(domain);
    }
  }

  /** One domain's fault, such as its removal meanwhile, does not stop the others. */
  async #checkOne(domain: SendingDomain): Promise<void> {
    try {
      await this.check(domain);
    } catch (error) {
      const { accountId, domain: name } = domain;
      this.#parts.log.warn(
        { err: error, accountId, domain: name },
        'a domain cannot be checked now',
      );
    }
  }
}

async function makeKeys(ed25519: boolean) {
  const algorithms: DkimAlgorithm[] = [
    'rsa-sha256',
    ...(ed25519 ? ['ed25519-sha256' as const] : []),
  ];
  const stem = `sp${randomBytes(4).toString('hex')}`;
  return await Promise.all(
    algorithms.map(async (algorithm) => ({
      algorithm,
      selector: `${stem}${algorithm === 'rsa-sha256' ? 'r' : 'e'}`,
      privateKey: await makeDkimKey(algorithm),
    })),
  );
}
