import { createHash } from 'node:crypto';
import { Fault } from '../foundation/errors.ts';
import type { AccountId } from '../foundation/ids.ts';

/** The key of a request and what it stands for. */
export interface IdempotencyKey {
  readonly text: string;
  /** SHA-256 of the template id and the raw bytes of the body: what "the same request" means. */
  readonly requestHash: Buffer;
}

/** Printable ASCII (RFC 20), as the header of the IETF draft is a string of those. */
const keyForm = /^[\x20-\x7e]{1,255}$/;

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
  if (typeof header !== 'string' || !keyForm.test(header)) {
    const reason = 'must be one value of 1 to 255 printable ASCII characters';
    throw new Fault('VALIDATION_FAILED', { details: [{ field: 'Idempotency-Key', reason }] });
  }
  const hash = createHash('sha256').update(templateText).update('\0');
  if (body !== undefined) hash.update(body);
  return { text: header, requestHash: hash.digest() };
}

/** How long a request waits for the first one with its key. */
const patience = 5_000;

/**
 * The keys that this process has under way, so that of several requests with one key one goes first and the others
 * wait for it; then they find the key in the database. Requests on other nodes meet at the key's unique index.
 */
export class KeysUnderWay {
  readonly #ends = new Map<string, Promise<void>>();
  readonly #patience: number;

  constructor(patienceMilliseconds = patience) {
    this.#patience = patienceMilliseconds;
  }

  /** When a request that begins now is answered IDEMPOTENCY_IN_PROGRESS, by the monotonic clock. */
  deadline(): number {
    return performance.now() + this.#patience;
  }

  /**
   * Waits until no other request has the key, and takes it.
   * @returns what gives it back
   * @throws Fault IDEMPOTENCY_IN_PROGRESS past the deadline
   */
  async take(accountId: AccountId, key: string, deadline: number): Promise<() => void> {
    const name = `${accountId}\n${key}`;
    for (let end = this.#ends.get(name); end !== undefined; end = this.#ends.get(name)) {
      await before(end, deadline);
    }
    let resolve: () => void = () => undefined;
    const end = new Promise<void>((done) => {
      resolve = done;
    });
    this.#ends.set(name, end);
    return () => {
      this.#ends.delete(name);
      resolve();
    };
  }
}

/** The answer to a request whose key another one has had under way for too long. */
export function stillUnderWay(): Fault {
  return new Fault('IDEMPOTENCY_IN_PROGRESS', { retryAfter: 1 });
}

async function before(end: Promise<void>, deadline: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(stillUnderWay()), Math.max(0, deadline - performance.now()));
  });
  try {
    await Promise.race([end, late]);
  } finally {
    clearTimeout(timer);
  }
}
