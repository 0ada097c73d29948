import { findPersonByEmail, listOperators, setOperator } from '../account/person-store.ts';
import { runChange } from '../change/change-resource.ts';
import { OperatorError } from '../foundation/errors.ts';
import { withRunningInstallation } from './open-running.ts';
import { recordCommand } from './record-command.ts';
import { type CommandShell, type JsonOption, printResult, printTable } from './shell.ts';

/** `operator list`: their email addresses. */
export async function listOperatorsCommand(
  options: JsonOption,
  shell: CommandShell,
): Promise<number> {
  return withRunningInstallation(shell, async ({ database }) => {
    const operators = (await listOperators(database.kysely)).map((email) => ({ email }));
    printTable(shell, options, operators, [['email', ({ email }) => email]]);
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
  options: JsonOption,
  shell: CommandShell,
): Promise<number> {
  return withRunningInstallation(shell, async ({ database }) => {
    const person = await findPersonByEmail(database.kysely, email);
    if (person === undefined) throw new OperatorError(`User "${email}" not found.`);
    const operator = action === 'add';
    await runChange({ database }, undefined, async (transaction) => {
      await setOperator(transaction, person.id, operator);
      const kind = operator ? 'operator_created' : 'operator_removed';
      await recordCommand(transaction, { kind, personId: person.id });
    });
    printResult(
      shell,
      options,
      `Done: ${person.email} is ${operator ? 'an operator' : 'no longer an operator'}.`,
      { email: person.email, operator },
    );
    return 0;
  });
}
