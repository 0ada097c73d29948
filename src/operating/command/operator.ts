import { findPersonByEmail, listOperators } from '../../accounts/account/person-store.ts';
import { changeOperator } from '../../accounts/sign-in/disable-person.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { runChange } from '../change/change-resource.ts';
import { signInSettingsOf } from '../config/config.ts';
import { withRunningInstallation } from './open-running.ts';
import { recordCommand } from './record-command.ts';
import { type CommandShell, type JsonOption, printResult, printTable } from './shell.ts';

/** `operator list`: their email addresses. */
export async function listOperatorsCommand(
  shell: CommandShell,
  options: JsonOption,
): Promise<void> {
  return withRunningInstallation(shell, async ({ database }) => {
    const operators = (await listOperators(database.kysely)).map((email) => ({ email }));
    printTable(shell, options, operators, [['email', ({ email }) => email]]);
  });
}

/**
 * `operator add|remove EMAIL`, even while the service runs; recorded in the audit log.
 * @throws OperatorError if the user doesn't exist or is the last operator
 */
export async function changeOperatorCommand(
  action: 'add' | 'remove',
  shell: CommandShell,
  email: string,
  options: JsonOption,
): Promise<void> {
  return withRunningInstallation(shell, async ({ config, database }) => {
    const person = await findPersonByEmail(database.kysely, email);
    if (person === undefined) throw new OperatorError(`User "${email}" not found.`);
    const operator = action === 'add';
    await runChange({ database }, undefined, async (transaction) => {
      const settings = signInSettingsOf(config);
      const refusal = await changeOperator(transaction, settings, person.id, operator);
      if (refusal !== undefined) throw new OperatorError(`${refusal}.`);
      const kind = operator ? 'operator_created' : 'operator_removed';
      await recordCommand(transaction, { kind, personId: person.id });
    });
    printResult(
      shell,
      options,
      `Done: ${person.email} is ${operator ? 'an operator' : 'no longer an operator'}.`,
      { email: person.email, operator },
    );
  });
}
