import { type Algorithm, hash } from '@node-rs/argon2';

/** The library's enum doesn't exist at run time: 2 is Argon2id. */
const argon2id = 2 as Algorithm.Argon2id;

/** Code points. */
export const minPasswordLength = 12;

/** Code points; hashing time grows with the length. */
export const maxPasswordLength = 1_000;

/** Argon2id with 19 MiB, 2 passes, 1 lane; about 10 ms. Hashes contain their cost, so it can be raised later. */
const passwordCost = {
  algorithm: argon2id,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
} as const;

/** Hashes a password; the encoded form includes salt and cost. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, passwordCost);
}
