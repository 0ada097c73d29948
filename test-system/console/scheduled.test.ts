import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saveMembership } from '../../src/accounts/account/membership-store.ts';
import { bodyWith, SendClient } from '../../test/support/send-client.ts';
import { getToken } from '../../test/support/shop.ts';
import { openConsoleWorld } from '../support/console-world.ts';

const { database, service, shop, it, signedIn } = await openConsoleWorld();
const sender = new SendClient(service, await getToken(service, shop));
const ahead = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();

async function schedule(
  toAddress: string,
  metadata: Record<string, unknown> = {},
  actions: Record<string, unknown> = {},
): Promise<string> {
  const response = await sender.send({
    body: bodyWith({
      envelope: { toAddress },
      actions: { sendAt: ahead(2), ...actions },
      metadata,
    }),
  });
  assert.equal(response.status, 200, response.text);
  return String(response.body.messageId);
}

it('scheduled messages: an empty list explains itself; a message is rescheduled and canceled with the keyboard', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/scheduled`);
  await page.getByText('No scheduled messages').waitFor();
  assert.equal(await page.getByLabel('Tag').count(), 0, 'there is nothing to filter');
  await visit.look('scheduled-empty');
  const id = await schedule(
    'ann@people.test',
    {},
    { deliverBefore: ahead(20), templateVersion: 'due' },
  );
  await visit.open(`${shop.id}/scheduled`);
  const row = page.getByRole('row', { name: /ann@people\.test/ });
  await row.getByText('in 2 days').waitFor();
  await row.getByText(/^Your order /).waitFor();
  const more = row.getByRole('button', { name: 'Actions for ann@people.test' });
  await more.press('Enter');
  await page.getByRole('menuitem', { name: 'Reschedule' }).press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Send time').fill(ahead(9).slice(0, 16));
  await visit.look('scheduled-move');
  await dialog.getByLabel('Send time').press('Enter');
  await page.getByText(/^Rescheduled to .+\.$/).waitFor();
  await row.getByText('in 9 days').waitFor();
  await more.press('Enter');
  await page.getByRole('menuitem', { name: 'Cancel message' }).press('Enter');
  await dialog.getByRole('button', { name: 'Keep message' }).press('Enter');
  await row.getByRole('link').click();
  const panel = page.getByRole('region', { name: 'Schedule' });
  await panel.getByText('in 9 days').waitFor();
  await page.getByText('latest version at send time (now v1)').waitFor();
  await visit.look('scheduled-message');
  await page.getByText('Scheduled', { exact: true }).first().waitFor();
  assert.equal(await page.getByRole('button', { name: 'Retry now' }).count(), 0);
  await page.getByText('Rescheduled', { exact: true }).waitFor();
  await page.getByText(/^To \w+ \d+, \d+, \d+:\d\d [AP]M$/).waitFor();
  await page.getByRole('button', { name: 'Cancel message' }).press('Enter');
  const name = dialog.getByLabel('Type ann@people.test to confirm');
  await name.fill('ann@people.test');
  await name.press('Enter');
  await page.getByText('It was canceled before it was sent.').waitFor();
  const { rows } = await database.pool.query(
    'select waiting from scheduled_message where message_id = $1',
    [id],
  );
  assert.equal(rows[0]?.waiting, false);
});

it('scheduled messages: one is sent now once that is confirmed', async (visit) => {
  const { page } = visit;
  const id = await schedule('now@people.test');
  await visit.open(`${shop.id}/messages`);
  await page
    .getByRole('row', { name: /now@people\.test/ })
    .getByText('Scheduled', { exact: true })
    .waitFor();
  await visit.move(`${shop.id}/messages/${id}`);
  await page.getByRole('button', { name: 'Send now' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('It’s sent to now@people.test right away.').waitFor();
  await dialog.getByRole('button', { name: 'Send now' }).click();
  await page.getByText('Captured in the test inbox').waitFor();
});

it('scheduled messages: all messages with a tag are canceled, after a confirmation that says how many there are', async (visit) => {
  const { page } = visit;
  for (const name of ['a', 'b', 'c']) await schedule(`${name}@people.test`, { tagList: ['news'] });
  await schedule('other@people.test', { tagList: ['bills'], externalId: '17' });
  await visit.open(`${shop.id}/scheduled`);
  await page.getByRole('textbox', { name: 'Tag' }).fill('news');
  await page.getByRole('textbox', { name: 'Tag' }).press('Enter');
  await page.getByRole('row', { name: /other@/ }).waitFor({ state: 'detached' });
  await visit.look('scheduled-filtered');
  await page.getByText('3 matching messages').waitFor();
  await page.getByRole('button', { name: 'Reschedule all 3' }).waitFor();
  await page.getByRole('cell', { name: 'news' }).first().waitFor();
  await page.getByRole('button', { name: 'Cancel all 3' }).press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('3 messages with tag news won’t be sent.').waitFor();
  await visit.look('scheduled-cancel-all');
  await dialog.getByRole('button', { name: 'Cancel 3 messages' }).click();
  await page.getByText('3 messages canceled.').waitFor();
  await page.getByText('No scheduled messages match these filters').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByRole('row', { name: /other@/ }).waitFor();
});

test('scheduled messages: a viewer sees them but no actions', async () => {
  await schedule('seen@people.test', { tagList: ['seen'] });
  const role = (name: 'viewer' | 'owner') =>
    saveMembership(database.kysely, {
      accountId: shop.id,
      personId: shop.owner.id,
      role: name,
    });
  await role('viewer');
  const visit = await signedIn({ dark: true, timeZone: 'Asia/Tokyo' });
  const { page } = visit;
  await visit.open(`${shop.id}/scheduled?tag=seen`);
  await page.getByRole('row', { name: /seen@people\.test/ }).waitFor();
  await visit.look('scheduled-viewer');
  assert.equal(await page.getByRole('button', { name: /^Actions for/ }).count(), 0);
  await role('owner');
  await visit.end();
});
