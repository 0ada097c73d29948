import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainReply } from '../../test/support/reply-shop.ts';
import { bodyWith, SendClient } from '../../test/support/send-client.ts';
import { getToken } from '../../test/support/shop.ts';
import { SmtpClient } from '../../test/support/smtp-client.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import { openConsoleWorld } from '../support/console-world.ts';

const { service, shop, it, signedIn } = await openConsoleWorld({
  BOUNCE_PORT: '0',
  BOUNCE_HOST: '127.0.0.1',
  DNS_SERVERS: '127.0.0.1:1',
});
const sender = new SendClient(service, await getToken(service, shop));

async function reply(to: string, source: string): Promise<void> {
  const client = await SmtpClient.open({ port: service.app.bouncePort() ?? 0 });
  await client.greet();
  assert.match(await client.submit([to], source, 'MAIL FROM:<ada@customer.test>'), /^250 /);
  await client.end();
}

it('replies: an empty log explains itself; a reply is found by its sender and leads to its message, which shows its text', async (visit) => {
  const { page } = visit;
  const response = await sender.send({ body: bodyWith({ actions: { receiveReplies: true } }) });
  const id = String(response.body.messageId);
  await visit.open(`${shop.id}/messages`);
  const tabs = page.getByRole('navigation', { name: 'Messages' });
  await tabs.getByRole('link', { name: 'Replies' }).press('Enter');
  await page.waitForURL(/messages\/replies$/);
  await page.getByText('No replies yet').waitFor();
  await visit.look('replies-empty');
  await visit.move(`${shop.id}/messages/${id}`);
  const address = page.getByTitle(/^r-[a-z2-7]{52}@bounces\.shop\.test$/);
  const to = (await address.getAttribute('title')) ?? '';
  await reply(to, plainReply({ Subject: 'Re: order' }, 'It arrived'));
  await reply(to, plainReply({ Subject: 'Away', 'Auto-Submitted': 'auto-replied' }, 'Until May'));
  await visit.open(`${shop.id}/messages/replies`);
  const rows = page.getByRole('row', { name: /ada@customer\.test/ });
  await rows.filter({ hasText: 'Until May' }).waitFor();
  await visit.look('replies');
  await page.getByLabel('Hide automatic replies').check();
  await rows.filter({ hasText: 'Until May' }).waitFor({ state: 'detached' });
  await rows.getByText('Re: order').waitFor();
  assert.equal(await rows.count(), 1);
  const find = page.getByLabel('Search by sender address');
  await find.fill('ada');
  await find.press('Enter');
  await page.getByText('This has no @.').waitFor();
  await find.fill('bob@customer.test');
  await find.press('Enter');
  await page.getByText('No replies from this address').waitFor();
  await find.fill('Ada@customer.test');
  await find.press('Enter');
  await page.waitForURL(/replies\?from=/);
  await tabs.getByRole('link', { name: 'Replies' }).click();
  await page.waitForURL(/replies$/);
  await waitFor('the field to follow', async () => (await find.inputValue()) === '');
  await find.fill('Ada@customer.test');
  await find.press('Enter');
  await page.waitForURL(/replies\?from=/);
  // The whole row is a link.
  await rows.click();
  await page.getByRole('heading', { name: 'Replies' }).waitFor();
  await page.getByText('It arrived').waitFor();
  await page.getByText('Sender not authenticated').waitFor();
  await page.getByText(/^SPF temperror, DKIM none, DMARC temperror$/).waitFor();
  await visit.look('message-replies');
  await page.getByRole('link', { name: 'Automatic reply' }).click();
  await page.waitForURL(/#reply-/);
});

test('the HTML of a reply is shown in a frame that runs and loads nothing', async () => {
  const response = await sender.send({ body: bodyWith({ actions: { receiveReplies: true } }) });
  const visit = await signedIn();
  const { page } = visit;
  await visit.open(`${shop.id}/messages/${String(response.body.messageId)}`);
  const address = page.getByTitle(/^r-[a-z2-7]{52}@bounces\.shop\.test$/);
  const html = [
    '<p id="shown">It <b>arrived</b></p>',
    '<script>document.getElementById("shown").textContent = "ran"</script>',
    '<img src="https://remote.test/pixel.gif" onerror="this.previousSibling.textContent = \'ran\'">',
    '<meta http-equiv="refresh" content="0;url=https://remote.test/page">',
  ].join('');
  const source = plainReply({ Subject: 'Re: page', 'Content-Type': 'text/html' }, html);
  // A request that the policy blocks fails before it is made.
  const made: string[] = [];
  page.on('request', (request) => made.push(request.url()));
  page.on('requestfailed', (request) => {
    if (request.failure()?.errorText === 'csp') made.splice(made.indexOf(request.url()), 1);
  });
  await reply((await address.getAttribute('title')) ?? '', source);
  await page.reload();
  const frame = page.frameLocator('iframe[title="Replies"]');
  await frame.getByText('It arrived').waitFor();
  await visit.look('reply-html');
  assert.equal(await frame.getByText('ran', { exact: true }).count(), 0);
  assert.deepEqual(
    made.filter((url) => url.includes('remote.test')),
    [],
  );
  // Its end would complain about what the policy blocked.
  await visit.close();
});
