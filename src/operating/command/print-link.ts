import { isSetUpOpen } from '../../accounts/access/operator-store.ts';
import { createOneTimeLink } from '../../accounts/sign-in/one-time-link.ts';
import type { OneTimeLinkPurpose } from '../../accounts/sign-in/one-time-link-store.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { type RunningInstallation, withRunningInstallation } from './open-running.ts';
import { recordCommand } from './record-command.ts';
import { serviceUrl } from './service-url.ts';
import { type CommandShell, type JsonOption, printResult } from './shell.ts';

/**
 * `set-up-link`: prints the link that creates the first owner and invalidates the previous one.
 * @throws OperatorError if the installation already has its owner
 */
export async function printSetUpLink(shell: CommandShell, options: JsonOption): Promise<void> {
  return withRunningInstallation(shell, async (installation) => {
    if (!(await isSetUpOpen(installation.database.kysely))) {
      throw new OperatorError(
        'This installation is already set up. To make one of its users an operator, run: signalpost operator add EMAIL',
      );
    }
    return printLink('set-up', options, installation, shell);
  });
}

/**
 * `inbox-link`: prints a link to the inbox and invalidates the previous one; browsers that opened one keep access.
 * @throws OperatorError if mail is not captured
 */
export async function printInboxLink(shell: CommandShell, options: JsonOption): Promise<void> {
  return withRunningInstallation(shell, async (installation) => {
    const { delivery } = installation.config;
    if (delivery !== 'inbox') {
      throw new OperatorError(`DELIVERY=${delivery} doesn’t capture mail, so there is no inbox.`);
    }
    return printLink('inbox', options, installation, shell);
  });
}

/** Standard output contains only the link, so that scripts can use it. */
async function printLink(
  purpose: OneTimeLinkPurpose,
  options: JsonOption,
  { config, database }: RunningInstallation,
  shell: CommandShell,
): Promise<void> {
  const link = await database.kysely.transaction().execute(async (transaction) => {
    const kind = `${purpose.replaceAll('-', '_')}_link_made`;
    await recordCommand(transaction, { kind });
    return createOneTimeLink({ kysely: transaction }, purpose, serviceUrl(config));
  });
  printResult(shell, options, link, { link });
}
