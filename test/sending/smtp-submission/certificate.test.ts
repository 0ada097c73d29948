import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { openSubmissionShop } from '../../support/submission-shop.ts';
import { TestAuthority } from '../../support/test-certificates.ts';
import { waitFor } from '../../support/wait-for.ts';

const world = await openSubmissionShop();

async function subject(): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: world.tlsPort, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { CN } = socket.getPeerCertificate().subject;
  socket.destroy();
  return String(CN);
}

test('a renewed certificate is used by new sessions, and open ones go on', async () => {
  assert.equal(await subject(), 'localhost');
  const open = await world.login();
  const renewed = new TestAuthority().issue(['renewed.test']);
  await writeFile(world.files.key, renewed.key);
  await writeFile(world.files.cert, renewed.cert);
  await waitFor('the new certificate', async () => (await subject()) === 'renewed.test');
  assert.match(await open.send('NOOP'), /^250 /);
});

test('RFC 8997: TLS below 1.2 is refused', async () => {
  const socket = connect({
    host: '127.0.0.1',
    port: world.tlsPort,
    rejectUnauthorized: false,
    maxVersion: 'TLSv1.1',
    minVersion: 'TLSv1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  });
  await assert.rejects(once(socket, 'secureConnect'));
});
