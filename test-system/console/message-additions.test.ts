import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { withoutTexts } from '../../src/content/message/message-sql.ts';
import { addressesIn } from '../../test/support/feedback-shop.ts';
import { readInbox } from '../../test/support/inbox-client.ts';
import { signInToManagement } from '../../test/support/management-client.ts';
import { bodyWith, SendClient } from '../../test/support/send-client.ts';
import { getToken, publishShopTemplate } from '../../test/support/shop.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { openConsoleWorld } from '../support/console-world.ts';

const { database, service, shop, it, signedIn } = await openConsoleWorld();
const sender = new SendClient(service, await getToken(service, shop));
const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('a message shows its attachments, recipients, headers and attributes, and says what was erased', async () => {
  const sent = await sender.send({
    body: bodyWith({
      envelope: {
        toAddress: 'ada@people.test',
        toDisplayName: 'Ada Lovelace',
        bccAddressList: ['books@people.test'],
      },
      content: {
        headers: { 'X-Order': 'A-1001' },
        attachments: [
          { filename: 'terms.txt', contentType: 'text/plain', content: base64('Terms') },
          {
            filename: 'logo.svg.txt',
            contentType: 'text/plain',
            content: base64('Logo'),
            contentId: 'logo',
          },
        ],
      },
      metadata: { attributes: { order: 'A-77' } },
    }),
  });
  assert.equal(sent.status, 200, sent.text);
  const id = String(sent.body.messageId);
  const visit = await signedIn({ dark: true });
  const { page } = visit;
  await visit.open(`${shop.id}/messages/${id}`);
  const details = page.getByRole('region', { name: 'Details' });
  await page.getByText('Ada Lovelace <ada@people.test>').waitFor();
  await details.getByText('books@people.test').waitFor();
  await page.getByRole('row', { name: /^X-Order A-1001/ }).waitFor();
  await page.getByRole('row', { name: /^order A-77/ }).waitFor();
  await details.getByText('inline as logo').waitFor();
  await visit.look('message-additions');
  const downloading = page.waitForEvent('download');
  await details.getByRole('link', { name: 'terms.txt' }).click();
  assert.equal(await readFile(await (await downloading).path(), 'utf8'), 'Terms');
  await waitFor('the delivery', async () => (await sender.status(id)).body.state === 'delivered');
  await database.pool.query(`update message m set content = ${withoutTexts('m')} where id = $1`, [
    id,
  ]);
  await visit.open(`${shop.id}/messages/${id}`);
  await details.getByText('The attachments of this message were erased.').waitFor();
  await page.getByRole('heading', { name: 'Content erased' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Resend' }).isDisabled(), true);
  assert.equal(await page.getByRole('button', { name: 'Resend' }).isDisabled(), true);
  await visit.look('message-erased');
  await visit.end();
});

it('a message says why it hasn’t arrived, what to do, and how much else waits; the server’s reply is shown once above its events', async (visit) => {
  const { page } = visit;
  const [deferred, , bounced] = await Promise.all(
    ['defer+1', 'defer+2', 'bounce'].map((name) =>
      sender.accept({ body: bodyWith({ envelope: { toAddress: `${name}@simulator.test` } }) }),
    ),
  );
  const isIn = (id: string | undefined, state: string) => async () =>
    (await sender.status(id ?? '')).body.state === state;
  await waitFor('the deferral', isIn(deferred, 'deferred'));
  await waitFor('the bounce', isIn(bounced, 'bounced'));
  await visit.open(`${shop.id}/messages/${deferred}`);
  const alert = page.getByRole('status').filter({ hasText: 'Next attempt' });
  await alert.getByText('simulator is busy.').waitFor();
  await alert.getByText('You don’t need to do anything.').waitFor();
  await alert.getByText('One other message to simulator.test waits, too.').waitFor();
  assert.equal(await alert.getByText('451 4.3.0 simulated: try again later').count(), 1);
  await visit.look('message-deferred');
  const owner = await signInToManagement(service, shop.owner.email);
  await owner.put(`/accounts/${shop.id}/suppressions/bounce@simulator.test`, {});
  await visit.move(`${shop.id}/messages/${bounced}`);
  await page.getByText('That mailbox doesn’t exist.').waitFor();
  await visit.look('message-bounced');
  await page.getByRole('link', { name: 'Go to the suppression' }).click();
  await page.getByRole('row', { name: /bounce@simulator\.test/ }).waitFor();
});

it('a field that looks like a one-time link is guarded in the editor, and the links of its message are ended', async (visit) => {
  const { page } = visit;
  await publishShopTemplate(database, shop, {
    id: 'reset',
    sender: 'orders@shop.test',
    source: { html: '<a href="{{Reset URL}}">Reset</a>', subject: 'Reset', previewText: '' },
  });
  await visit.open(`${shop.id}/templates/reset`);
  await page.getByText('Reset URL looks like a one-time link.').waitFor();
  await page.getByRole('button', { name: 'Options for Reset URL' }).click();
  await page.getByLabel('Guarded link').check();
  assert.equal(await page.getByLabel('Secret').isChecked(), true);
  await page.getByLabel('Days it works').fill('3');
  await page.getByText('Reset URL looks like a one-time link.').waitFor({ state: 'detached' });
  await visit.look('editor-guarded');
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
  await page.waitForURL(/use$/);

  const target = 'https://auth.shop.test/reset?token=1';
  const content = { personalizationDataMap: { 'Reset URL': target } };
  const to = 'guarded@people.test';
  const body = bodyWith({ envelope: { toAddress: to }, content });
  const sent = await sender.send({ template: 'reset', body });
  assert.equal(sent.status, 200, sent.text);
  const [mail] = await readInbox(service.url, `?to=${to}&wait=60`);
  const [link = ''] = addressesIn(mail?.html ?? '', 'href');
  assert.equal((await fetch(link)).status, 200);
  await visit.open(`${shop.id}/messages/${sent.body.messageId}`);
  await page.getByText('Guarded link viewed').waitFor();
  await page.getByRole('button', { name: 'End links' }).click();
  await visit.look('message-end-links');
  await page.getByRole('dialog').getByRole('button', { name: 'End links' }).click();
  await page.getByText('Guarded links ended').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(await page.getByRole('button', { name: 'End links' }).count(), 0);
  assert.equal((await fetch(link)).status, 410);
});

it('operators limit the size of messages with attachments; a limit that is too high is rejected at its field', async (visit) => {
  const { page } = visit;
  await visit.open(`${shop.id}/settings`);
  const field = page.getByLabel('Max message size (MiB)');
  const card = page.getByRole('region', { name: 'Operator controls' });
  const save = card.getByRole('button', { name: 'Save' });
  const limit = async () =>
    (
      await database.pool.query('select attachment_limit as bytes from account where id = $1', [
        shop.id,
      ])
    ).rows[0].bytes;
  await field.fill('26');
  await save.click();
  await page.getByText('Enter more than 0, up to 25.').waitFor();
  await visit.look('attachment-limit');
  await field.fill('25');
  await save.click();
  await page.getByText('Saved.').first().waitFor();
  assert.equal(await limit(), 25 * 1_024 * 1_024);
  await visit.settle();
  await field.fill('');
  await save.click();
  await waitFor('the default', async () => (await limit()) === null);
  await card.getByRole('checkbox', { name: 'Allow attachments' }).click();
  await field.waitFor({ state: 'detached' });
  await save.click();
  await waitFor('no attachments', async () => (await limit()) === 0);
});
