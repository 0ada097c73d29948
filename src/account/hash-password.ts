import { type Algorithm, hash } from '@node-rs/argon2';

/** The enum of the library is not there at run time: 2 is Argon2id. */
const argon2id = 2 as Algorithm.Argon2id;

/** Fewest characters (code points) of a password. */
export const minPasswordLength = 12;

/** Characters; hashing takes time with the length. */
export const maxPasswordLength = 1_000;

/** Argon2id with 19 MiB, 2 passes, 1 lane; about 10 ms. What is stored says so itself, so that it can be made stronger. */
const passwordCost = {
  algorithm: argon2id,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
} as const;

/** What is stored for a password, in the encoded form with salt and cost. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, passwordCost);
}
