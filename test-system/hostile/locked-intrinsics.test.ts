import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addKey } from '../../test/support/api-key.ts';
import { readInbox } from '../../test/support/inbox-client.ts';
import { runSignalpost } from '../../test/support/run-signalpost.ts';
import { sendRequest } from '../../test/support/send-request.ts';
import { serviceTokens } from '../../test/support/service-tokens.ts';
import { openShop } from '../../test/support/shop.ts';
import { SmtpClient } from '../../test/support/smtp-client.ts';
import { submissionEnvironment } from '../../test/support/submission-shop.ts';
import { createTestDatabase } from '../../test/support/test-database.ts';
import { freePort } from '../support/free-port.ts';

/** Says at the end what code in the process can do. */
const probe = `data:text/javascript,${encodeURIComponent(`
  process.on('exit', () => process.stdout.write('intrinsics ' + JSON.stringify({
    isExtensible: [Object, Array, Function].map(({ prototype }) => Object.isExtensible(prototype)),
    hasProto: '__proto__' in {},
  }) + '\\n'));
`)}`;

test('ASVS 4.0.3 5.1.2: bin/signalpost, whose processes all run the same file, has locked intrinsics', async () => {
  const program = runSignalpost(['--version'], { NODE_OPTIONS: `--import=${probe}` });
  assert.equal(await program.exit, 0);
  const [, said = ''] = /^intrinsics (.+)$/m.exec(program.output.stdout) ?? [];
  assert.deepEqual(JSON.parse(said), { isExtensible: [false, false, false], hasProto: false });
});

test('ASVS 4.0.3 5.1.2: no message ends the process, and none that is stored keeps it from starting again', async () => {
  const { database, url } = await createTestDatabase();
  const shop = await openShop(database);
  const scopes = ['messages:send', 'messages:send-content', 'messages:read'] as const;
  const key = await addKey(database, shop.id, { scopes: [...scopes] });
  const { environment } = await submissionEnvironment();
  const port = await freePort();
  const start = async () => {
    const service = runSignalpost(['serve', '--processes', '1'], {
      ...serviceTokens,
      ...environment,
      DATABASE_URL: url,
      DELIVERY: 'inbox',
      LOG_LEVEL: 'error',
      PORT: '0',
      SIGNALPOST_KEY: Buffer.alloc(32, 7).toString('base64'),
      SUBMISSION_TLS_PORT: String(port),
    });
    const [, at = ''] = await service.printed(/running at (http:\S+)/);
    return { service, at };
  };
  const parameters = "__proto__*0*=bogus'en'x; constructor*0*=bogus'en'x";
  let { service, at } = await start();
  const client = await SmtpClient.open({ port, tls: true });
  await client.greet();
  assert.match(await client.login(shop.id, key), /^235 /);
  const ids: string[] = [];
  for (const field of ['Content-Type: text/html', 'DKIM-Signature: v=1']) {
    const source = `From: orders@shop.test\r\n${field}; ${parameters}\r\n\r\n<p>Hello</p>`;
    const reply = await client.submit(['reader@people.test'], source);
    assert.match(reply, /^250 2\.6\.0 Accepted as /);
    ids.push(reply.slice(-36));
  }
  const check = async () => {
    const mails = await readInbox(at, '?to=reader@people.test&wait=60');
    assert.ok(mails.length > 0);
    for (const id of ids) {
      const { status, text } = await sendRequest(
        `${at}/manage/v1/accounts/${shop.id}/messages/${id}/rendered`,
        { headers: { authorization: `Bearer ${key}` } },
      );
      assert.equal(status, 200, text);
    }
    assert.equal((await sendRequest(`${at}/readyz`)).status, 200);
    assert.equal(service.child.exitCode, null);
  };
  await check();
  service.child.kill('SIGKILL');
  await service.exit;
  ({ service, at } = await start());
  await check();
});
