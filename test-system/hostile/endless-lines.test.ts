import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addKey } from '../../test/support/api-key.ts';
import { openShop, saveShop } from '../../test/support/shop.ts';
import type { SmtpClient } from '../../test/support/smtp-client.ts';
import { openSubmissionShop, templateMail } from '../../test/support/submission-shop.ts';
import { waitFor } from '../../test/support/wait-for.ts';

const world = await openSubmissionShop();
const {
  shop: { database },
} = world;
const mebibyte = 1_024 ** 2;

/**
 * Writes as fast as the server reads, whatever it says, until the connection is gone.
 * @returns how many bytes went out
 */
async function flood({ socket }: SmtpClient, piece: Buffer): Promise<number> {
  let sent = 0;
  while (!socket.destroyed) {
    const written = Promise.withResolvers<boolean>();
    const lose = () => written.resolve(false);
    socket.once('close', lose);
    socket.write(piece, (error) => written.resolve(!error));
    if (!(await written.promise)) break;
    socket.off('close', lose);
    sent += piece.length;
  }
  return sent;
}

const longLine = Buffer.from(`${'x'.repeat(mebibyte - 2)}\r\n`);
const withoutBreaks = Buffer.alloc(mebibyte, 'x');
const stubborn = { allowHalfOpen: true };

async function beginMessage(client: SmtpClient): Promise<void> {
  await client.send('MAIL FROM:<orders@shop.test>', /^250 /);
  await client.send('RCPT TO:<endless@people.test>', /^250 /);
  await client.send('DATA', /^354 /);
}

test('ASVS 4.0.3 12.1.1: a message without an end is refused at a bound, and its connection is closed', async () => {
  const client = await world.login(stubborn);
  await beginMessage(client);
  const sent = await flood(client, longLine);
  await client.reply(/^421 4\.7\.0 Too much data in a message/);
  await waitFor('the end', () => client.closed);
  assert.ok(sent < 60 * mebibyte, `${sent} bytes were read`);
});

test('ASVS 4.0.3 12.1.1: so is a message that is refused before it comes', async () => {
  const id = '46200' as never;
  await openShop(database, { id });
  const key = await addKey(database, id, { scopes: ['messages:send', 'messages:send-content'] });
  const client = await world.open(stubborn);
  assert.match(await client.login(id, key), /^235 /);
  await client.send('MAIL FROM:<orders@shop.test>', /^250 /);
  await client.send('RCPT TO:<endless@people.test>', /^250 /);
  await saveShop(database, { id, suspended: true });
  await waitFor('the suspension', async () => {
    // In new sessions, because each may have only so many commands.
    const other = await world.open();
    const reply = await other.login(id, key);
    other.socket.destroy();
    return reply.startsWith('525');
  });
  await client.send('DATA', /^354 /);
  const sent = await flood(client, longLine);
  await client.reply(/^421 4\.7\.0 Too much data in a message/);
  await waitFor('the end', () => client.closed);
  assert.ok(sent < 60 * mebibyte, `${sent} bytes were read`);
});

test('ASVS 4.0.3 12.1.1: a command without an end is refused before a login, and its connection is closed', async () => {
  const client = await world.open(stubborn);
  const sent = await flood(client, withoutBreaks);
  await client.reply(/^421 /);
  await waitFor('the end', () => client.closed);
  assert.ok(sent < 16 * mebibyte, `${sent} bytes were read`);
});

for (const [what, last] of [
  ['QUIT', 'QUIT\r\n'],
  ['a request of HTTP', 'GET / HTTP/1.1\r\n'],
] as const)
  test(`ASVS 4.0.3 12.1.1: what comes without an end after ${what} isn’t read`, async () => {
    const client = await world.open(stubborn);
    client.socket.write(last);
    await client.reply(/^[24]21 /);
    const sent = await flood(client, longLine);
    await waitFor('the end', () => client.closed);
    assert.ok(sent < 16 * mebibyte, `${sent} bytes were read`);
  });

test('messages are accepted while an account sends without an end in many sessions', async () => {
  const attackers = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const client = await world.login(stubborn);
      await beginMessage(client);
      return { client, flooding: flood(client, longLine) };
    }),
  );
  const polite = await world.login();
  for (let count = 0; count < 5; count += 1)
    assert.match(await polite.submit([`r${count}@people.test`], templateMail()), /^250 /);
  for (const { client } of attackers) client.socket.destroy();
  await Promise.all(attackers.map(({ flooding }) => flooding));
});
