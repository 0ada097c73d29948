import { hash } from 'node:crypto';
import { Fault } from '../foundation/errors.ts';
import type { AccountId } from '../foundation/ids.ts';
import { within } from '../foundation/within.ts';
import { hashInPieces } from './decode-base64.ts';

export interface IdempotencyKey {
  readonly text: string;
  /** Identifies the request: SHA-256 of the template ID and the raw body, one byte per character. */
  readonly requestHash: string;
}

/** Printable ASCII (RFC 20), as in the string syntax of the IETF draft. */
const keyPattern = /^[\x20-\x7e]{1,255}$/;

/**
 * Reads an idempotency key.
 * @param header of a single request, or the member of a batch's message
 * @param templateText template ID from the path, valid or not
 * @param field its name in errors
 * @param requestHash from `hashLargeRequest`, for a body that was hashed in pieces
 * @throws Fault VALIDATION_FAILED for a key that is empty, too long or not printable ASCII
 */
export function readIdempotencyKey(
  header: unknown,
  templateText: string,
  body: Buffer | undefined,
  field = 'Idempotency-Key',
  requestHash?: string,
): IdempotencyKey | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !keyPattern.test(header)) {
    const reason = 'must be one value of 1 to 255 printable ASCII characters';
    throw new Fault('VALIDATION_FAILED', { details: [{ field, reason }] });
  }
  return { text: header, requestHash: requestHash ?? hashRequest(templateText, body) };
}

/** The same hash for a large body, in pieces with other work between them. */
export function hashLargeRequest(templateText: string, body: Buffer): Promise<string> {
  return hashInPieces([Buffer.from(`${templateText}\0`), body]);
}

/** One-shot hashing to a string: crypto objects cost more than hashing a small request. */
function hashRequest(templateText: string, body: Buffer = empty): string {
  const template = Buffer.from(`${templateText}\0`);
  return hash('sha256', Buffer.concat([template, body]), 'binary');
}

const empty = Buffer.alloc(0);

/** How long a request waits for an earlier one with the same key. */
const defaultWaitMs = 5_000;

/**
 * Serializes this process's requests with the same key; later ones then find the key in the database. Requests on other
 * nodes meet at the key's unique index.
 */
export class IdempotencyLocks {
  readonly #locks = new Map<string, KeyLock>();
  readonly #waitMs: number;

  constructor(waitMs = defaultWaitMs) {
    this.#waitMs = waitMs;
  }

  /** When a request starting now gets IDEMPOTENCY_IN_PROGRESS, in monotonic time. */
  deadline(): number {
    return performance.now() + this.#waitMs;
  }

  /**
   * Acquires the key, waiting while another request holds it.
   * @returns a function that releases it
   * @throws Fault IDEMPOTENCY_IN_PROGRESS after the deadline
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

type Release = () => void;

/** A request holding a key. The promise is created lazily, for the first waiter. */
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

/** The error when another request has held the key for too long. */
export function idempotencyInProgress(): Fault {
  return new Fault('IDEMPOTENCY_IN_PROGRESS', { retryAfter: 1 });
}

async function waitForEnd(end: Promise<void>, deadline: number): Promise<void> {
  await within(end, Math.max(0, deadline - performance.now()), () => {
    throw idempotencyInProgress();
  });
}
