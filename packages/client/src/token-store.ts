/** A token pair, as the service issued it. */
export interface Tokens {
  readonly accessToken: string;
  /** Works once. */
  readonly refreshToken: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/**
 * Storage for tokens. Processes with the same user and client must share one store: each new pair invalidates the previous
 * refresh token, and without one a user gets only five pairs an hour (contract 5.1 rule 4, 8).
 */
export interface TokenStore {
  get(): Promise<Tokens | undefined>;
  set(tokens: Tokens): Promise<void>;
  /** Runs `work` while no other process with this store does. */
  lock<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** Keeps the tokens of one process. */
export function memoryStore(): TokenStore {
  let stored: Tokens | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return {
    get: async () => stored,
    set: async (tokens) => {
      stored = tokens;
    },
    lock: (work) => {
      const result = last.then(work);
      last = result.catch(() => undefined);
      return result;
    },
  };
}
