import { test } from 'node:test';
import { openConsoleWorld } from '../support/console-world.ts';

const { shop, signedIn } = await openConsoleWorld();
for (const dark of [false, true])
  test(`widths ${dark}`, async () => {
    const visit = await signedIn({ dark });
    const { page } = visit;
    for (const [width, height] of [
      [390, 844],
      [1000, 800],
      [1440, 900],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const path of [
        '',
        'templates/t-0001',
        'senders',
        'integrations',
        'destinations',
        'reports',
      ]) {
        await visit.open(`${shop.id}/${path}`);
        await page.waitForLoadState('networkidle');
        await page.screenshot({
          path: `/tmp/w-${path.replaceAll('/', '-') || 'overview'}-${width}-${dark ? 'dark' : 'light'}.png`,
        });
      }
    }
    await visit.context.close();
  });
