import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { saveMembership } from '../../../src/accounts/account/membership-store.ts';
import { chooseSubmissionHost } from '../../../src/sending/smtp-submission/submission-endpoint.ts';
import { signInToManagement } from '../../support/management-client.ts';
import { SessionWorld } from '../../support/session-world.ts';
import { openSubmissionShop } from '../../support/submission-shop.ts';
import { TestAuthority } from '../../support/test-certificates.ts';
import { startTestService } from '../../support/test-service.ts';

const world = await openSubmissionShop({ SMTP_HOSTNAME: 'mail.elsewhere.test' });
const { shop } = world;

async function readSettings(service: { readonly url: string }) {
  const member = await new SessionWorld(shop.database, shop.shop.id).addPerson({ accounts: [] });
  await saveMembership(shop.database.kysely, {
    accountId: shop.shop.id,
    personId: member.id,
    role: 'developer',
  });
  const { status, body } = await (await signInToManagement(service, member.email)).get(
    '/installation/settings',
  );
  assert.equal(status, 200);
  return body.smtpSubmission;
}

test('a developer reads where programs submit messages: the ports, and a host that the certificate is for', async () => {
  assert.deepEqual(await readSettings(shop.service), {
    host: 'localhost',
    port: world.port,
    tlsPort: world.tlsPort,
  });
});

test('null if submission is off', async () => {
  const service = await startTestService({ databaseUrl: shop.databaseUrl, worker: false });
  assert.equal(await readSettings(service), null);
});

function certificateFor(...names: string[]): X509Certificate {
  return new X509Certificate(new TestAuthority().issue(names).cert);
}

test('RFC 8314 section 4.2: the host is a name that programs find in the certificate', () => {
  const known = ['mail.example.com', 'www.example.com'] as const;
  const choose = (...names: string[]) => chooseSubmissionHost(certificateFor(...names), known);
  assert.equal(choose('www.example.com', 'mail.example.com'), 'mail.example.com');
  assert.equal(choose('www.example.com'), 'www.example.com');
  assert.equal(choose('*.example.com'), 'mail.example.com');
  assert.equal(choose('*.other.test', 'smtp.other.test'), 'smtp.other.test');
  assert.equal(choose('*.other.test'), 'mail.example.com');
});
