import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../foundation/clock.ts';
import type { Database } from '../foundation/database/open-database.ts';
import { comparableAddress } from '../foundation/email-address.ts';
import type { PersonId } from '../foundation/ids.ts';
import type { Log } from '../foundation/log.ts';
import { notifyOfBlockedSignIn, notifyOfNewBrowser } from '../outbox/security-notice-store.ts';
import type { ProviderSignIn } from './browser/browser-session-store.ts';
import type { BrowserSessions } from './browser/browser-sessions.ts';
import type { KnownDevices } from './browser/known-devices.ts';
import { browserName } from './pages/layout.ts';

/** Notices being queued at once; a flood of guesses takes no more connections, and its next guess tries again. */
const maxPending = 5;
/** How long, and for how many addresses, a process remembers that no notice about blocked sign-ins is due. */
const blockedTtlMs = 60_000;
const maxBlocked = 1_000;

/** Notices to people about sign-ins in their name (ASVS 2.2.3, 2.5.5). */
export class SignInNotices {
  readonly #database: Pick<Database, 'kysely'>;
  readonly #log: Log;
  readonly #pending = new Set<Promise<void>>();
  readonly #blocked: LRUCache<string, true>;

  constructor(database: Pick<Database, 'kysely'>, clock: Clock, log: Log) {
    this.#database = database;
    this.#log = log;
    this.#blocked = new LRUCache({
      max: maxBlocked,
      ttl: blockedTtlMs,
      perf: { now: () => clock.monotonic() },
    });
  }

  /** Someone signed in as a person with a browser that they never used before. Nothing is sent about the first sign-in ever. */
  newBrowser(personId: PersonId, request: FastifyRequest): Promise<void> {
    return notifyOfNewBrowser(this.#database.kysely, personId, {
      browser: browserName(request.headers['user-agent'] ?? ''),
      address: request.ip,
    });
  }

  /**
   * Guesses at the sign-in of the person with this address, if there is one, are being delayed. At most one notice a day. Returns
   * at once, so that timing doesn't reveal whether there is such a person.
   */
  blocked(email: string, { ip }: Pick<FastifyRequest, 'ip'>): void {
    const address = comparableAddress(email);
    if (this.#pending.size >= maxPending || this.#blocked.has(address)) return;
    this.#blocked.set(address, true);
    const work = notifyOfBlockedSignIn(this.#database.kysely, address, ip).catch(
      (error: unknown) => {
        this.#blocked.delete(address);
        this.#log.warn({ err: error }, 'could not queue a security notice');
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

interface CompleteSignInDependencies {
  readonly browser: BrowserSessions;
  readonly devices: KnownDevices;
  readonly notices: SignInNotices;
}

/** Who signs in. */
interface CompletedSignIn {
  readonly personId: PersonId;
  readonly email: string;
  /** The sign-in with a provider, if that is how the person signed in. */
  readonly provider?: ProviderSignIn | undefined;
}

/** Signs in a person who proved who they are, remembers the browser, and tells them if it is a new one. */
export async function completeSignIn(
  { browser, devices, notices }: CompleteSignInDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  { personId, email, provider }: CompletedSignIn,
): Promise<void> {
  const proof =
    provider === undefined
      ? 'own'
      : provider.reach === 'all'
        ? 'installation'
        : (`account ${provider.reach.accountId}` as const);
  const isKnown = (await devices.read(request, email, proof)) !== undefined;
  await browser.signIn(request, reply, personId, provider);
  await devices.remember(request, reply, { personId, email, proof });
  if (!isKnown) await notices.newBrowser(personId, request);
}
