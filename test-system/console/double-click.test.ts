import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { openConsoleWorld } from '../support/console-world.ts';

const { database, shop, it } = await openConsoleWorld();

/** Of the account's own template: notices of sign-ins are messages, too, and come at any time. */
const ownMessages = "message where template_id = 't-0001'";

async function count(what: typeof ownMessages | 'api_key' | 'webhook_endpoint'): Promise<number> {
  const { rows } = await database.pool.query(`select count(*)::int as count from ${what}`);
  return rows[0]?.count;
}

/** Fills in the form of a new key but does not submit it. */
async function fillKey(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'New API key' }).first().dblclick();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Deploy');
  await dialog.getByLabel('Read only').check();
}

for (const delay of [0, 80])
  it(`a double click on “Resend” sends one message, with ${delay} ms between press and release`, async (visit) => {
    const { page } = visit;
    await visit.open(`${shop.id}/templates/t-0001`);
    await page.getByRole('button', { name: 'Send a test' }).dblclick({ delay });
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('To').fill('ann@people.test');
    const before = await count(ownMessages);
    await dialog.getByRole('button', { name: 'Send a test' }).dblclick({ delay });
    await page.getByRole('link', { name: 'Open the message' }).click();
    await page.waitForURL(/messages\/[\w-]{36}$/);
    await page.getByText('Captured in the test inbox').waitFor();
    assert.equal(await count(ownMessages), before + 1, 'the test');
    const first = page.url();
    await page.getByRole('button', { name: 'Resend' }).dblclick({ delay });
    await dialog.getByRole('button', { name: 'Resend' }).dblclick({ delay });
    await page.waitForURL((url) => url.href !== first);
    await page.getByText('Captured in the test inbox').waitFor();
    assert.equal(await count(ownMessages), before + 2, 'the test sent again');
  });

for (const delay of [0, 80])
  it(`a double click on “Create key” creates one key, with ${delay} ms between press and release`, async (visit) => {
    const { page } = visit;
    await visit.open(`${shop.id}/keys`);
    await fillKey(page);
    const before = await count('api_key');
    await page.getByRole('button', { name: 'Create key' }).dblclick({ delay });
    await page.getByText('This is shown only once').waitFor();
    assert.equal(await count('api_key'), before + 1);
  });

it('a form submitted twice before the page shows that it is busy creates one webhook', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/webhooks`);
  await page.getByRole('button', { name: 'Add a webhook' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('URL').fill('https://hooks.shop.test/');
  await dialog.getByLabel('Delivered').check();
  // Two separate clicks, so that a click count can't tell them from two intended submissions.
  await dialog
    .getByRole('button', { name: 'Add a webhook' })
    .evaluate((button: { click(): void }) => {
      button.click();
      button.click();
    });
  await page.getByText('This is shown only once').waitFor();
  assert.equal(await count('webhook_endpoint'), 1);
});
