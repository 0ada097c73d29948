import { findPersonByEmail, listOperators } from '../../accounts/account/person-store.ts';
import { changeOperator } from '../../accounts/sign-in/disable-person.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { runChange } from '../change/change-resource.ts';
import { signInSettingsOf } from '../config/config.ts';
import { onInstallation } from './open-running.ts';
import { recordCommand } from './record-command.ts';
import { printResult, printTable } from './shell.ts';

/** `operator list|add|remove`, even while the service runs; changes are recorded in the audit log. */
export const operatorCommands = {
  list: onInstallation(() => async ({ shell, database }) => {
    const operators = (await listOperators(database.kysely)).map((email) => ({ email }));
    printTable(shell, operators, [['email', ({ email }) => email]]);
  }),
  add: changeRole(true),
  remove: changeRole(false),
};

/** @throws OperatorError if the user doesn't exist or is the last operator */
function changeRole(operator: boolean) {
  return onInstallation((email: string) => async ({ shell, config, database }) => {
    const person = await findPersonByEmail(database.kysely, email);
    if (person === undefined) throw new OperatorError(`User "${email}" not found.`);
    await runChange({ database }, undefined, async (transaction) => {
      const settings = signInSettingsOf(config);
      const refusal = await changeOperator(transaction, settings, person.id, operator);
      if (refusal !== undefined) throw new OperatorError(`${refusal}.`);
      const kind = operator ? 'operator_created' : 'operator_removed';
      await recordCommand(transaction, { kind, personId: person.id });
    });
    const now = operator ? 'an operator' : 'no longer an operator';
    printResult(shell, `Done: ${person.email} is ${now}.`, { email: person.email, operator });
  });
}
