import { writeFile } from 'node:fs/promises';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { codeOf } from '../foundation/database/sqlstate.ts';
import { OperatorError } from '../foundation/errors.ts';

/**
 * Creates a key pair and writes it to a new file that only this user can read.
 * @returns the public key
 * @throws OperatorError if the file exists or can't be written
 */
export async function createIdentity(file: string): Promise<string> {
  const identity = await generateX25519Identity();
  const recipient = await identityToRecipient(identity);
  const text = `# created: ${new Date().toISOString()}\n# public key: ${recipient}\n${identity}\n`;
  try {
    await writeFile(file, text, { mode: 0o600, flag: 'wx', flush: true });
  } catch (cause) {
    const why =
      codeOf(cause) === 'EEXIST' ? 'already exists' : `can’t be written (${codeOf(cause)})`;
    throw new OperatorError(`${file} ${why}. Choose another file.`, { cause });
  }
  return recipient;
}
