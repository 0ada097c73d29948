import { hash } from 'node:crypto';
import { Fault } from '../foundation/errors.ts';
import type { AccountId } from '../foundation/ids.ts';

/** The key of a request and what it stands for. */
export interface IdempotencyKey {
  readonly text: string;
  /** SHA-256 of the template id and the raw bytes of the body, a byte in each character: what "the same request" means. */
  readonly requestHash: string;
}

/** Printable ASCII (RFC 20), as the header of the IETF draft is a string of those. */
const keyPattern = /^[\x20-\x7e]{1,255}$/;

/**
 * Reads the `Idempotency-Key` header.
 * @param templateText the template id as the path has it, valid or not
 * @throws Fault VALIDATION_FAILED for a key that is empty, too long or not printable ASCII
 */
export function readIdempotencyKey(
  header: string | string[] | undefined,
  templateText: string,
  body: Buffer | undefined,
): IdempotencyKey | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !keyPattern.test(header)) {
    const reason = 'must be one value of 1 to 255 printable ASCII characters';
    throw new Fault('VALIDATION_FAILED', { details: [{ field: 'Idempotency-Key', reason }] });
  }
  return { text: header, requestHash: hashRequest(templateText, body) };
}

/** In one call, and to a text: objects of the crypto library cost more than hashing a small request does. */
function hashRequest(templateText: string, body: Buffer = empty): string {
  const template = Buffer.from(`${templateText}\0`);
  return hash('sha256', Buffer.concat([template, body]), 'binary');
}

const empty = Buffer.alloc(0);

/** How long a request waits for the first one with its key. */
const defaultWaitMs = 5_000;

/**
 * The keys that this process has under way, so that of several requests with one key one goes first and the others
 * wait for it; then they find the key in the database. Requests on other nodes meet at the key's unique index.
 */
export class IdempotencyLocks {
  readonly #locks = new Map<string, KeyLock>();
  readonly #waitMs: number;

  constructor(waitMs = defaultWaitMs) {
    this.#waitMs = waitMs;
  }

  /** When a request that begins now is answered IDEMPOTENCY_IN_PROGRESS, by the monotonic clock. */
  deadline(): number {
    return performance.now() + this.#waitMs;
  }

  /**
   * Takes the key once no other request has it: at once where none has.
   * @returns what gives it back
   * @throws Fault IDEMPOTENCY_IN_PROGRESS past the deadline
   */
  acquire(accountId: AccountId, key: string, deadline: number): Release | Promise<Release> {
    const name = `${accountId}\n${key}`;
    return this.#locks.has(name) ? this.#wait(name, deadline) : this.#start(name);
  }

  async #wait(name: string, deadline: number): Promise<Release> {
    for (let other = this.#locks.get(name); other; other = this.#locks.get(name)) {
      await waitForEnd(other.ended(), deadline);
    }
    return this.#start(name);
  }

  #start(name: string): Release {
    const lock = new KeyLock();
    this.#locks.set(name, lock);
    return () => {
      this.#locks.delete(name);
      lock.end();
    };
  }
}

/** Gives a key back. */
type Release = () => void;

/** A request that has a key; the promise of its end is made for the first one that waits for it. */
class KeyLock {
  #end: PromiseWithResolvers<void> | undefined;

  ended(): Promise<void> {
    this.#end ??= Promise.withResolvers();
    return this.#end.promise;
  }

  end(): void {
    this.#end?.resolve();
  }
}

/** The answer to a request whose key another one has had under way for too long. */
export function idempotencyInProgress(): Fault {
  return new Fault('IDEMPOTENCY_IN_PROGRESS', { retryAfter: 1 });
}

async function waitForEnd(end: Promise<void>, deadline: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(idempotencyInProgress()),
      Math.max(0, deadline - performance.now()),
    );
  });
  try {
    await Promise.race([end, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
