import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readInbox } from '../../support/inbox-client.ts';
import { openSubmissionShop, templateMail } from '../../support/submission-shop.ts';

const world = await openSubmissionShop();
const { service } = world.shop;
const asked = { 'X-Signalpost-Receive-Replies': 'true' };

function rawMail(fields: Readonly<Record<string, string>>): string {
  const all = { From: 'orders@shop.test', Subject: 'Invoice', ...fields };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${lines.join('')}\r\nHello\r\n`;
}

async function submit(to: readonly string[], source: string): Promise<string> {
  const client = await world.login();
  const reply = await client.submit(to, source);
  await client.end();
  return reply;
}

for (const [name, source] of [
  ['a template', templateMail({ 'Order Number': 'A-1' }, asked)],
  ['a complete message', rawMail(asked)],
] as const)
  test(`X-Signalpost-Receive-Replies gives each recipient of ${name} its own reply address`, async () => {
    const to = ['one', 'two'].map((local) => `${local}-${name.length}@people.test`);
    assert.match(await submit(to, source), /^250 /);
    const addresses = new Set<string>();
    for (const address of to) {
      const [mail] = await readInbox(service.url, `?to=${address}&wait=60`);
      const values = mail?.headers['reply-to'] ?? [];
      assert.equal(values.length, 1);
      assert.match(values[0] ?? '', /^r-[a-z2-7]{52}@bounces\.shop\.test$/);
      assert.equal(mail?.headers['x-signalpost-receive-replies'], undefined);
      addresses.add(values[0] ?? '');
    }
    assert.equal(addresses.size, 2);
  });

test('it is refused together with Reply-To, and as anything but true or false', async () => {
  const replyTo = { ...asked, 'Reply-To': 'orders@shop.test' };
  for (const source of [rawMail(replyTo), templateMail({ 'Order Number': 'A-1' }, replyTo)])
    assert.match(
      await submit(['ada@people.test'], source),
      /^554 5\.6\.0 .*X-Signalpost-Receive-Replies can't be used together with/,
    );
  const maybe = rawMail({ 'X-Signalpost-Receive-Replies': 'maybe' });
  assert.match(await submit(['ada@people.test'], maybe), /^554 5\.6\.0 .*must be true or false/);
});
