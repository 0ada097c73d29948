import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { comparableAddress } from '../../base/values/email-address.ts';
import type { PersonId } from '../../base/values/ids.ts';
import { notifyOfBlockedSignIn, notifyOfNewBrowser } from '../notices/security-notice-store.ts';
import { browserName } from './pages/layout.ts';
import type { SessionModuleDependencies } from './session-dependencies.ts';

/** Max notices queued at once, so that a flood of guesses takes no more connections; its next guess retries. */
const maxPending = 5;
/** How long, and for how many addresses, a process remembers that no notice about blocked sign-ins is due. */
const blockedTtlMs = 60_000;
const maxBlocked = 1_000;

/** Notices to people about sign-ins in their name (ASVS 2.2.3, 2.5.5). */
export class SignInNotices {
  readonly #dependencies: SessionModuleDependencies;
  readonly #pending = new Set<Promise<void>>();
  readonly #blocked: LRUCache<string, true>;

  constructor(dependencies: SessionModuleDependencies) {
    this.#dependencies = dependencies;
    this.#blocked = new LRUCache({
      max: maxBlocked,
      ttl: blockedTtlMs,
      perf: { now: () => dependencies.clock.monotonic() },
    });
  }

  /** Notifies a person of a sign-in with a new browser, but not of their first sign-in ever. */
  newBrowser(personId: PersonId, request: FastifyRequest): Promise<void> {
    return notifyOfNewBrowser(this.#dependencies.database.kysely, personId, {
      browser: browserName(request.headers['user-agent'] ?? ''),
      address: request.ip,
    });
  }

  /**
   * Notifies the person with this address, if any, that guesses at their sign-in are being delayed; at most once a day.
   * Returns at once, so that timing doesn't reveal whether the person exists.
   */
  blocked(email: string, { ip }: Pick<FastifyRequest, 'ip'>): void {
    const address = comparableAddress(email);
    if (this.#pending.size >= maxPending || this.#blocked.has(address)) return;
    this.#blocked.set(address, true);
    const work = notifyOfBlockedSignIn(this.#dependencies.database.kysely, address, ip).catch(
      (error: unknown) => {
        this.#blocked.delete(address);
        this.#dependencies.log.warn({ err: error }, 'could not queue a security notice');
      },
    );
    this.#pending.add(work);
    void work.finally(() => this.#pending.delete(work));
  }

  /** Resolves when no notice is being queued. */
  async drain(): Promise<void> {
    await Promise.all(this.#pending);
  }
}
