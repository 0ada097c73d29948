import assert from 'node:assert/strict';
import { test } from 'node:test';
import { removeApiKey } from '../../../src/accounts/access/api-key-store.ts';
import { addKey } from '../../support/api-key.ts';
import { getToken, saveShop } from '../../support/shop.ts';
import { SmtpClient } from '../../support/smtp-client.ts';
import { openSubmissionShop, templateMail } from '../../support/submission-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const world = await openSubmissionShop();
const { shop, key, port, open: openTls } = world;
const { database } = shop;

test('RFC 3207 section 4: without TLS, only STARTTLS is possible, and AUTH is not offered', async () => {
  const client = await SmtpClient.open({ port });
  const extensions = await client.greet();
  assert.ok(extensions.includes('STARTTLS'));
  assert.ok(!extensions.some((line) => line.startsWith('AUTH')));
  const required = '530 5.7.0 Must issue a STARTTLS command first';
  assert.equal(await client.login('46100', key), required);
  assert.equal(await client.send('MAIL FROM:<a@shop.test>'), required);
  await client.startTls();
  const secure = await client.greet();
  assert.ok(!secure.includes('STARTTLS'));
  assert.deepEqual(
    secure.filter((line) => /^(AUTH|PIPELINING|8BITMIME|SIZE|SMTPUTF8|ENHANCED|DSN)/.test(line)),
    [
      'PIPELINING',
      '8BITMIME',
      'SMTPUTF8',
      'ENHANCEDSTATUSCODES',
      'AUTH PLAIN LOGIN',
      `SIZE ${25 * 1024 ** 2}`,
    ],
  );
  assert.match(await client.login('46100', key), /^235 2\.7\.0 /);
  assert.match(await client.submit(['starttls@people.test'], templateMail()), /^250 2\.6\.0 /);
});

test('RFC 4954 section 6: without a login, no message can be begun', async () => {
  const client = await openTls();
  assert.equal(await client.send('MAIL FROM:<a@shop.test>'), '530 5.7.0 Authentication required');
});

test('AUTH LOGIN works like AUTH PLAIN', async () => {
  const client = await openTls();
  await client.send('AUTH LOGIN', /^334 /);
  await client.send(Buffer.from('46100').toString('base64'), /^334 /);
  assert.match(await client.send(Buffer.from(key).toString('base64')), /^235 /);
});

test('only an API key of the account that may send is a password', async () => {
  const weak = await addKey(database, shop.shop.id, { scopes: ['messages:read'] });
  const elsewhere = await addKey(database, shop.shop.id, {
    scopes: ['messages:send', 'messages:send-content'],
    networks: ['192.0.2.0/24'],
  });
  const token = await getToken(shop.service, shop.shop);
  const wrong = /^535 5\.7\.8 Wrong user name or password/;
  for (const [user, password, expected] of [
    ['46100', `${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`, wrong],
    ['46101', key, wrong],
    ['46100', weak, /^535 5\.7\.8 The API key can't send/],
    ['46100', elsewhere, /^535 5\.7\.8 The API key can't send/],
    ['46100', token, /^535 5\.7\.8 Use the account ID/],
    ['46100', 'a password', /^535 5\.7\.8 Use the account ID/],
  ] as const) {
    const client = await openTls();
    assert.match(await client.login(user, password), expected, password);
    assert.match(await client.send('MAIL FROM:<a@shop.test>'), /^530 /);
    await client.end();
  }
});

test('ASVS 4.0.3 2.2.1: a session ends after a few wrong passwords', async () => {
  const client = await openTls();
  for (let attempt = 0; attempt < 3; attempt += 1)
    assert.match(await client.login('46100', 'wrong'), /^535 /);
  assert.match(await client.login('46100', key), /^421 4\.7\.0 Too many wrong passwords/);
});

test('a key that is deleted during a session can’t send anymore', async () => {
  const deleted = await addKey(database, shop.shop.id, {
    scopes: ['messages:send', 'messages:send-content'],
  });
  const client = await openTls();
  assert.match(await client.login('46100', deleted), /^235 /);
  assert.match(await client.submit(['before@people.test'], templateMail()), /^250 /);
  const { rows } = await database.pool.query(
    'select id from api_key where account_id = $1 order by created_at desc limit 1',
    ['46100'],
  );
  await removeApiKey(database.kysely, shop.shop.id, rows[0].id);
  await waitFor('the refusal', async () =>
    (await client.submit(['after@people.test'], templateMail())).startsWith('535 5.7.8 '),
  );
});

test('a suspended account can neither log in nor go on sending', async () => {
  await saveShop(database, { id: '46200' });
  const own = await addKey(database, '46200' as never, {
    scopes: ['messages:send', 'messages:send-content'],
  });
  const open = await openTls();
  assert.match(await open.login('46200', own), /^235 /);
  await saveShop(database, { id: '46200', suspended: true });
  await waitFor('the refusal', async () => {
    await open.send('RSET', /^250 /);
    return (await open.send('MAIL FROM:<a@shop.test>')) === '525 5.7.13 Account suspended';
  });
  const client = await openTls();
  assert.equal(await client.login('46200', own), '525 5.7.13 Account suspended');
});
