import { createLog } from '../../base/values/log.ts';
import { clearDemo, fillDemo, waitForDemo } from '../demo-data/fill-demo.ts';
import { onInstallation } from './open-running.ts';
import { serviceUrl } from './service-url.ts';
import { print } from './shell.ts';

/** How long reports and search may take to follow. */
const timeoutMs = 120_000;

export const demoCommands = {
  fill: onInstallation(
    ({ messages: count }: { readonly messages: number }) =>
      async ({ shell, config, database, key }) => {
        const started = Date.now();
        const dependencies = { database, key: await key(), log: createLog('warn'), now: started };
        await fillDemo(dependencies, count);
        const isShown = await waitForDemo(dependencies, count, timeoutMs);
        const seconds = ((Date.now() - started) / 1_000).toFixed(1);
        print(
          shell,
          `Added the account demo with ${count} messages of the last 30 days (${seconds} s).`,
        );
        if (!isShown)
          print(shell, 'Search and reports show them once a worker of the service has read them.');
        print(shell, `Look at it: ${serviceUrl(config)}/console/demo`);
        print(shell, 'Remove it: signalpost demo clear');
      },
  ),
  clear: onInstallation(() => async ({ shell, database }) => {
    await clearDemo({ database });
    print(shell, 'Removed the account demo with everything in it.');
  }),
};
