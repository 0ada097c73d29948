import { hash } from 'node:crypto';
import { Fault } from '../../base/values/errors.ts';
import type { AccountId } from '../../base/values/ids.ts';
import type { MaybePromise } from '../../base/values/maybe-promise.ts';
import { within } from '../../base/values/within.ts';
import { sendBodyBytes } from '../../host/http/limits/route-limits.ts';
import { hashInPieces } from './decode-base64.ts';
import { unusableField } from './describe-body-problems.ts';

export interface IdempotencyKey {
  readonly text: string;
  /** Identifies the request: SHA-256 of the template ID and the raw body, one byte per character. */
  readonly requestHash: string;
}

/**
 * Keys of rows that are read from accounts' outboxes begin with this; the tab is in no caller's key. They are remembered for longer
 * (`rememberAnswered`).
 */
export const outboxKeyPrefix = 'outbox\t';

/** Printable ASCII (RFC 20), as in the string syntax of the IETF draft. */
const keyPattern = /^[\x20-\x7e]{1,255}$/;

/**
 * Reads an idempotency key. A large body is hashed in pieces, with other work between them.
 * @param header of a single request, or the member of a batch's message
 * @param templateText template ID from the path, valid or not
 * @param field its name in errors
 * @throws Fault VALIDATION_FAILED for a key that is empty, too long or not printable ASCII
 */
export function readIdempotencyKey(
  header: unknown,
  templateText: string,
  body: Buffer = noBody,
  field = 'Idempotency-Key',
): MaybePromise<IdempotencyKey> {
  if (typeof header !== 'string' || !keyPattern.test(header))
    throw unusableField(field, 'must be one value of 1 to 255 printable ASCII characters');
  const template = Buffer.from(`${templateText}\0`);
  if (body.length > sendBodyBytes)
    return hashInPieces([template, body]).then((requestHash) => ({ text: header, requestHash }));
  // One-shot hashing to a string: crypto objects cost more than hashing a small request.
  return { text: header, requestHash: hash('sha256', Buffer.concat([template, body]), 'binary') };
}

/** The key of a test message: the same text stands for another live message. Keys of requests have no line breaks. */
export function toTestKey(key: IdempotencyKey): IdempotencyKey {
  return { ...key, text: `test\n${key.text}` };
}

const noBody = Buffer.alloc(0);

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
      const leftMs = Math.max(0, deadline - performance.now());
      await within(other.ended(), leftMs, () => {
        throw idempotencyInProgress();
      });
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
