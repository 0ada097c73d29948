import { createLog } from '../../base/values/log.ts';
import { clearDemo, fillDemo, waitForDemo } from '../demo-data/fill-demo.ts';
import { withRunningInstallation } from './open-running.ts';
import { serviceUrl } from './service-url.ts';
import type { CommandShell } from './shell.ts';

/** How long reports and search may take to follow. */
const timeoutMs = 120_000;

/** `demo fill`. @throws OperatorError if it can't be filled */
export async function fillDemoCommand(
  shell: CommandShell,
  { messages: count }: { readonly messages: number },
): Promise<void> {
  return withRunningInstallation(shell, async ({ config, database, key }) => {
    const started = Date.now();
    const dependencies = { database, key: await key(), log: createLog('warn'), now: started };
    await fillDemo(dependencies, count);
    const isShown = await waitForDemo(dependencies, count, timeoutMs);
    const seconds = ((Date.now() - started) / 1_000).toFixed(1);
    shell.out(
      `Added the account demo with ${count} messages of the last 30 days (${seconds} s).\n`,
    );
    if (!isShown)
      shell.out('Search and reports show them once a worker of the service has read them.\n');
    shell.out(`Look at it: ${serviceUrl(config)}/console/demo\nRemove it: signalpost demo clear\n`);
  });
}

/** `demo clear`. @throws OperatorError if there is no demo data */
export async function clearDemoCommand(shell: CommandShell): Promise<void> {
  return withRunningInstallation(shell, async ({ database }) => {
    await clearDemo({ database });
    shell.out('Removed the account demo with everything in it.\n');
  });
}
