import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { codeBlocks } from '../../test/support/markdown-pages.ts';
import { SmtpClient } from '../../test/support/smtp-client.ts';
import { openFrameworkShop } from '../support/framework-shop.ts';

/**
 * A dialogue that Jakarta Mail 2.0 had with the service when it was called as Keycloak 26 calls it, with the settings of
 * docs/frameworks/keycloak.md: `>` is what it sent, `<` the code of the last line of the reply.
 */
const dialogue = await readFile(join(import.meta.dirname, 'keycloak-dialogue.txt'), 'utf8');
const { env, mailTo, suppress } = await openFrameworkShop();
const [, data = ''] = dialogue.split('< 354\n');
const message = data
  .slice(0, data.indexOf('> .\n'))
  .replaceAll(/^> ?/gm, '')
  .replaceAll('\n', '\r\n');

/** Says what Jakarta Mail said, up to a reply that it didn't get. @returns that reply; undefined if it got them all */
async function replay(text: string, password = env.SMTP_PASSWORD): Promise<string | undefined> {
  const client = new SmtpClient({ port: Number(env.SMTP_PORT) });
  const secrets = text.replace('{user}', btoa(env.SMTP_USER)).replace('{password}', btoa(password));
  const [plain = '', secure = ''] = secrets.trimEnd().split('\n> STARTTLS\n< 220\n');
  const say = async (part: string): Promise<string | undefined> => {
    for (const line of part.split('\n')) {
      if (line.startsWith('>')) client.socket.write(`${line.slice(2)}\r\n`);
      else {
        const reply = await client.reply(/^\d{3} /);
        if (!reply.startsWith(line.slice(2))) return reply;
      }
    }
    return undefined;
  };
  const early = await say(plain);
  if (early !== undefined) return early;
  await client.startTls();
  const reply = await say(secure);
  await client.end();
  return reply;
}

test('the dialogue of Keycloak is that of the settings of the page', () => {
  const [block] = codeBlocks(process.cwd(), 'docs/frameworks/keycloak.md');
  const { smtpServer } = JSON.parse(block?.text ?? '');
  const { from, fromDisplayName } = smtpServer;
  assert.match(message, new RegExp(`^From: ${fromDisplayName} <${from}>\r$`, 'm'));
  assert.match(dialogue, new RegExp(`^> MAIL FROM:<${from}>$`, 'm'));
  assert.deepEqual([smtpServer.starttls, smtpServer.auth], ['true', 'true']);
});

test('a message of Keycloak arrives as it was sent', async () => {
  assert.equal(await replay(dialogue), undefined);
  const mail = await mailTo('ada@people.test', 'Passwort zurücksetzen');
  assert.ok(mail.source.endsWith(message), mail.source);
  assert.match(mail.text ?? '', /action-token\?key=EXAMPLE/);
  assert.match(mail.html ?? '', /Passwort ändern/);
});

test('Keycloak gets the replies that the page explains', async () => {
  await suppress('gone@people.test');
  const replies = {
    '535 5.7.8': () => replay(dialogue, 'sp_wrong'),
    '550 5.7.1 Sender not allowed': () =>
      replay(dialogue.replaceAll('orders@shop.test', 'other@shop.test')),
    '550 5.7.1 Recipient suppressed': () =>
      replay(dialogue.replaceAll('ada@people.test', 'gone@people.test')),
  };
  for (const [expected, refused] of Object.entries(replies)) {
    const reply = (await refused()) ?? '';
    assert.ok(reply.startsWith(expected), reply);
  }
});
