import { readFileSync } from 'node:fs';
import { codeOf } from '../../base/database/sqlstate.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { secretNames } from './settings-table.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Adds secrets from the files named by `NAME_FILE` variables to the environment.
 * @throws OperatorError if both forms are set, or the file can't be read or is empty
 */
export function readSecretFiles(environment: Environment): Environment {
  const secrets: Record<string, string> = {};
  for (const name of secretNames) {
    const file = environment[`${name}_FILE`]?.trim();
    if (file === undefined || file === '') continue;
    if ((environment[name]?.trim() ?? '') !== '')
      throw new OperatorError(`Both ${name} and ${name}_FILE are set; remove one of them.`);
    secrets[name] = readSecret(`${name}_FILE`, file);
  }
  return { ...environment, ...secrets };
}

function readSecret(name: string, file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new OperatorError(`${name} names ${file}, which can’t be read (${codeOf(cause)}).`, {
      cause,
    });
  }
  // Editors and `echo` add a final newline that isn't part of the secret.
  const secret = text.replace(/\r?\n$/, '');
  if (secret.trim() === '')
    throw new OperatorError(`${name} names ${file}, which is empty. Write the secret to it.`);
  return secret;
}
