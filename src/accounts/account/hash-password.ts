import { type Algorithm, hash } from '@node-rs/argon2';

/** The library's enum doesn't exist at run time: 2 is Argon2id. */
const argon2id = 2 as Algorithm.Argon2id;

/** Code points. */
export const minPasswordLength = 12;

/** Code points; hashing time grows with the length. */
export const maxPasswordLength = 1_000;

/** Min MiB of memory for hashing a password; PASSWORD_MEMORY can raise it. */
export const minPasswordMemory = 19;
const passes = 2;

/**
 * Hashes a password with Argon2id in 2 passes and 1 lane; about 10 ms with the default memory (ASVS 2.4.1). The encoded form
 * includes salt and cost.
 * @param memory MiB
 */
export function hashPassword(password: string, memory = minPasswordMemory): Promise<string> {
  return hash(password, {
    algorithm: argon2id,
    memoryCost: memory * 1_024,
    timeCost: passes,
    parallelism: 1,
  });
}

/** Whether a hash took less work than `hashPassword` uses now. */
export function isOutdated(passwordHash: string, memory: number): boolean {
  const [, kib, time] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),/.exec(passwordHash) ?? [];
  return !(Number(kib) >= memory * 1_024 && Number(time) >= passes);
}
