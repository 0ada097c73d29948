import { isSetUpOpen } from '../../accounts/access/operator-store.ts';
import { createOneTimeLink } from '../../accounts/sign-in/one-time-link.ts';
import type { OneTimeLinkPurpose } from '../../accounts/sign-in/one-time-link-store.ts';
import { OperatorError } from '../../base/values/errors.ts';
import { onInstallation, type RunningInstallation } from './open-running.ts';
import { recordCommand } from './record-command.ts';
import { serviceUrl } from './service-url.ts';
import { type CommandShell, printResult } from './shell.ts';

/** Each prints a link and invalidates the previous one; browsers that opened one keep access. */
export const linkCommands = {
  'set-up-link': onInstallation(() => async (context) => {
    if (!(await isSetUpOpen(context.database.kysely)))
      throw new OperatorError(
        'This installation is already set up. To make one of its users an operator, run: signalpost operator add EMAIL',
      );
    await printLink('set-up', context);
  }),
  'inbox-link': onInstallation(() => async (context) => {
    const { delivery } = context.config;
    if (delivery !== 'inbox')
      throw new OperatorError(`DELIVERY=${delivery} doesn’t capture mail, so there is no inbox.`);
    await printLink('inbox', context);
  }),
};

/** Standard output contains only the link, so that scripts can use it. */
async function printLink(
  purpose: OneTimeLinkPurpose,
  { shell, config, database }: RunningInstallation & { readonly shell: CommandShell },
): Promise<void> {
  const link = await database.kysely.transaction().execute(async (transaction) => {
    const kind = `${purpose.replaceAll('-', '_')}_link_made`;
    await recordCommand(transaction, { kind });
    return createOneTimeLink({ kysely: transaction }, purpose, serviceUrl(config));
  });
  printResult(shell, link, { link });
}
