import type { Quota } from '../../accounts/account/account.ts';
import {
  claimQuotaShare,
  type QuotaShare,
  returnQuotaShare,
} from '../../accounts/account/quota-usage-store.ts';
import type { Database } from '../../base/database/open-database.ts';
import { Fault } from '../../base/values/errors.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { Log } from '../../base/values/log.ts';
import { unusableField } from './describe-body-problems.ts';
import { withTimeout } from './with-timeout.ts';

interface QuotaSharesDependencies {
  readonly database: Database;
  readonly log: Log;
}

/** Max recipients per share. */
const maxShare = 512;
/** How long a share, or the fact that none is left, is cached. */
const shareLifetimeMs = 1_000;

/** This process's share of an account's quota. */
interface HeldShare {
  readonly quota: Quota;
  readonly share: QuotaShare;
  /** Recipients left in the share. */
  left: number;
  /** When its hour ends or the cache lifetime is over, in monotonic time. */
  readonly until: number;
}

interface AccountState {
  held: HeldShare | undefined;
  /** The pending request for a share, and the recipients of the messages that wait for it. */
  pending: Promise<void> | undefined;
  waiting: number;
  /** Max recipients of the next share. */
  wanted: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Enforces account quotas with few statements: each process reserves shares of a quota in the database and counts them down
 * in memory. Shares are returned if unused for a second; a killed process loses its share, which is at most 512 recipients and
 * at most a thirty-second of what was left for that hour and day.
 */
export class QuotaShares {
  readonly #dependencies: QuotaSharesDependencies;
  readonly #states = new Map<AccountId, AccountState>();
  readonly #returning = new Set<Promise<void>>();

  constructor(dependencies: QuotaSharesDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Takes the recipients of a message from an account's quota: all or none.
   * @returns a function that returns them if the message was not stored
   * @throws Fault QUOTA_EXCEEDED with the seconds until the hour or day ends, VALIDATION_FAILED if the quota is smaller than the
   *   message, which no wait changes
   */
  async spend(accountId: AccountId, quota: Quota, recipients: number): Promise<() => void> {
    const most = Math.min(quota.perHour ?? Infinity, quota.perDay ?? Infinity);
    // A quota of 0 refuses every message, and may be raised.
    if (most > 0 && recipients > most) throw tooManyRecipients(recipients, most);
    const state = this.#stateOf(accountId);
    for (;;) {
      const held = this.#usable(state, quota);
      if (held !== undefined) {
        if (held.left >= recipients) {
          held.left -= recipients;
          return () => this.#refund(accountId, held, recipients);
        }
        if (isExhausted(held.share)) throw quotaExceeded(held);
      }
      state.waiting += recipients;
      try {
        state.pending ??= this.#acquire(accountId, quota, state);
        await withTimeout(state.pending);
      } finally {
        state.waiting -= recipients;
      }
    }
  }

  /** Returns unused shares. Call once no more messages are accepted. */
  async stop(): Promise<void> {
    for (const [accountId, state] of this.#states) void this.#release(accountId, state);
    await Promise.all(this.#returning);
  }

  #stateOf(accountId: AccountId): AccountState {
    const existing = this.#states.get(accountId);
    if (existing !== undefined) return existing;
    const state: AccountState = {
      held: undefined,
      pending: undefined,
      waiting: 0,
      wanted: 1,
      timer: undefined,
    };
    this.#states.set(accountId, state);
    return state;
  }

  /** The held share, unless it expired or the quota changed. */
  #usable(state: AccountState, quota: Quota): HeldShare | undefined {
    const { held } = state;
    if (held === undefined || performance.now() >= held.until) return undefined;
    const same = held.quota.perHour === quota.perHour && held.quota.perDay === quota.perDay;
    return same ? held : undefined;
  }

  #acquire(accountId: AccountId, quota: Quota, state: AccountState): Promise<void> {
    // After this event loop turn, so that all its requests share one statement.
    const acquired = new Promise((resolve) => setImmediate(resolve)).then(async () => {
      await this.#release(accountId, state);
      const { database } = this.#dependencies;
      const amount = { needed: state.waiting, wanted: state.wanted };
      const share = await claimQuotaShare(database.kysely, accountId, quota, amount);
      state.wanted = Math.min(maxShare, Math.max(state.waiting, state.wanted * 2));
      const lifetimeMs = Math.max(0, Math.min(shareLifetimeMs, share.hourEndsIn));
      state.held = { quota, share, left: share.granted, until: performance.now() + lifetimeMs };
      state.timer = setTimeout(() => {
        void this.#release(accountId, state);
        if (state.waiting === 0) this.#states.delete(accountId);
      }, lifetimeMs);
      state.timer.unref();
    });
    return acquired.finally(() => {
      state.pending = undefined;
    });
  }

  async #release(accountId: AccountId, state: AccountState): Promise<void> {
    clearTimeout(state.timer);
    const { held } = state;
    state.held = undefined;
    if (held === undefined || held.left === 0) return;
    const unused = held.left;
    held.left = 0;
    await this.#returnShare(accountId, held.share, unused);
  }

  #refund(accountId: AccountId, held: HeldShare, recipients: number): void {
    if (this.#states.get(accountId)?.held === held) held.left += recipients;
    else void this.#returnShare(accountId, held.share, recipients);
  }

  /** If returning fails, the share counts as used until its hour and day end. */
  #returnShare(accountId: AccountId, share: QuotaShare, unused: number): Promise<void> {
    const { database, log } = this.#dependencies;
    const returned = returnQuotaShare(database.kysely, accountId, share, unused)
      .catch((error: unknown) => {
        log.warn({ err: error, accountId, unused }, 'could not return a quota share');
      })
      .finally(() => this.#returning.delete(returned));
    this.#returning.add(returned);
    return returned;
  }
}

function tooManyRecipients(recipients: number, most: number): Fault {
  const reason = `has ${recipients} recipients, but the account’s quota permits ${most}`;
  return unusableField('envelope', reason);
}

function isExhausted({ hourLeft, dayLeft }: QuotaShare): boolean {
  return (hourLeft !== undefined && hourLeft <= 0) || (dayLeft !== undefined && dayLeft <= 0);
}

function quotaExceeded({ share, quota }: HeldShare): Fault {
  const isDaily = share.dayLeft !== undefined && share.dayLeft <= 0;
  const [limit, window] = isDaily ? [quota.perDay, 'day'] : [quota.perHour, 'hour'];
  return new Fault('QUOTA_EXCEEDED', {
    details: [
      {
        field: 'accountId',
        reason: `has reached its limit of ${limit} recipients for this ${window}`,
      },
    ],
    retryAfter: Math.max(1, (isDaily ? share.dayEndsIn : share.hourEndsIn) / 1_000),
  });
}
