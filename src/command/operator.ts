import { findPersonByEmail, listOperators, setOperator } from '../account/person-store.ts';
import { runChange } from '../change/change-resource.ts';
import { OperatorError } from '../foundation/errors.ts';
import { withRunningInstallation } from './open-running.ts';
import { recordCommand } from './record-command.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** `operator list`: one email address per line. */
export async function listOperatorsCommand(environment: Environment): Promise<number> {
  return withRunningInstallation(environment, async ({ database }) => {
    for (const email of await listOperators(database.kysely)) process.stdout.write(`${email}\n`);
    return 0;
  });
}

/**
 * `operator add|remove EMAIL`, even while the service runs; recorded in the audit log.
 * @throws OperatorError if the user doesn't exist
 */
export async function changeOperator(
  action: 'add' | 'remove',
  email: string,
  environment: Environment,
): Promise<number> {
  return withRunningInstallation(environment, async ({ database }) => {
    const person = await findPersonByEmail(database.kysely, email);
    if (person === undefined) throw new OperatorError(`User "${email}" not found.`);
    const operator = action === 'add';
    await runChange({ database }, undefined, async (transaction) => {
      await setOperator(transaction, person.id, operator);
      const kind = operator ? 'operator_created' : 'operator_removed';
      await recordCommand(transaction, { kind, personId: person.id });
    });
    process.stdout.write(
      `Done: ${person.email} is ${operator ? 'an operator' : 'no longer an operator'}.\n`,
    );
    return 0;
  });
}
