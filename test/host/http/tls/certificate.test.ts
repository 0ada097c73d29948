import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { OperatorError } from '../../../../src/base/values/errors.ts';
import {
  LiveCertificate,
  readCertificate,
} from '../../../../src/host/http/tls/live-certificate.ts';
import { readConfig } from '../../../../src/operating/config/config.ts';
import { logIntoLines } from '../../../support/log-into-lines.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { TestAuthority } from '../../../support/test-certificates.ts';
import { writeCertificate } from '../../../support/tls-server.ts';
import { waitFor } from '../../../support/wait-for.ts';

const authority = new TestAuthority();
const issued = (days = 30) => authority.issue(['localhost'], days);

function watch(t: { after(done: () => void): void }, files: ReturnType<typeof writeCertificate>) {
  const { log, lines } = logIntoLines('info');
  const certificate = new LiveCertificate({ files, log, checkIntervalMs: 20 });
  certificate.start();
  t.after(() => certificate.stop());
  return { certificate, lines, text: () => JSON.stringify(lines) };
}

test('a key that isn’t the key of the certificate is an error that names both files and settings', () => {
  const { key } = issued();
  const { cert } = issued();
  const files = writeCertificate({ key, cert });
  assert.throws(
    () => readCertificate(files),
    (error: Error) =>
      error instanceof OperatorError &&
      error.message ===
        `TLS_KEY names ${files.key.path}, which isn’t the key of the certificate in ${files.cert.path} (TLS_CERT); set both to files that were issued together.`,
  );
});

test('files that are missing, empty, swapped, broken or encrypted are errors that name the file', () => {
  const { key, cert } = issued();
  const encrypted = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }).privateKey;
  const cases: [string, { key: string; cert: string }, RegExp][] = [
    ['empty', { key, cert: '' }, /TLS_CERT names .*cert\.pem, which isn’t a certificate in PEM/],
    ['swapped', { key: cert, cert: key }, /TLS_CERT names .*, which isn’t a certificate in PEM/],
    ['no key', { key: 'x', cert }, /TLS_KEY names .*key\.pem, which isn’t a private key in PEM/],
    ['encrypted', { key: encrypted, cert }, /TLS_KEY names .*key\.pem, which has a passphrase/],
    [
      'a broken chain',
      { key, cert: `${cert}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n` },
      /TLS_CERT names .*cert\.pem, which can’t be used for TLS/,
    ],
  ];
  for (const [name, pair, expected] of cases)
    assert.throws(() => readCertificate(writeCertificate(pair)), expected, name);
  const files = writeCertificate({ key, cert });
  rmSync(files.key.path);
  assert.throws(
    () => readCertificate(files),
    /TLS_KEY names .*key\.pem, which can’t be read \(ENOENT\)/,
  );
});

test('one of TLS_CERT and TLS_KEY without the other is an error', () => {
  const { cert, key } = writeCertificate(issued());
  for (const environment of [{ TLS_CERT: cert.path }, { TLS_KEY: key.path }])
    assert.throws(
      () => readConfig(environment),
      /TLS_KEY and TLS_CERT belong together; set both or neither/,
    );
});

test('a PUBLIC_URL without https contradicts TLS_CERT', () => {
  const { cert, key } = writeCertificate(issued());
  assert.throws(
    () =>
      readConfig({
        TLS_CERT: cert.path,
        TLS_KEY: key.path,
        PUBLIC_URL: 'http://127.0.0.1:3000',
      }),
    /PUBLIC_URL must begin with https/,
  );
});

test('files that are replaced by renaming are read again', async (t) => {
  const files = writeCertificate(issued());
  const { certificate, text } = watch(t, files);
  for (const days of [40, 50]) {
    const next = issued(days);
    writeFileSync(join(files.folder, 'cert.new'), next.cert);
    writeFileSync(join(files.folder, 'key.new'), next.key);
    renameSync(join(files.folder, 'key.new'), files.key.path);
    renameSync(join(files.folder, 'cert.new'), files.cert.path);
    await waitFor('the new certificate', () => certificate.current.cert === next.cert);
  }
  assert.match(text(), /uses the new TLS certificate/);
});

test('a symbolic link that points to another file is followed, as certbot and Kubernetes replace files', async (t) => {
  const folder = temporaryFolder();
  const first = writeCertificate(issued());
  const second = writeCertificate(issued(60));
  const live = join(folder, 'live');
  symlinkSync(first.folder, live);
  const { certificate } = watch(t, {
    folder,
    cert: { setting: 'TLS_CERT', path: join(live, 'cert.pem') },
    key: { setting: 'TLS_KEY', path: join(live, 'key.pem') },
  });
  const before = certificate.current.cert;
  symlinkSync(second.folder, join(folder, 'next'));
  renameSync(join(folder, 'next'), live);
  await waitFor('the new certificate', () => certificate.current.cert !== before);
  assert.equal(certificate.current.cert, readCertificate(second).cert);
});

test('a new pair that can’t be used keeps the old one and logs which file is wrong, until it is repaired', async (t) => {
  const files = writeCertificate(issued());
  const { certificate, text } = watch(t, files);
  const { cert } = certificate.current;
  const next = issued(70);
  writeFileSync(files.cert.path, next.cert);
  await waitFor('the warning', () => /TLS_KEY names .*which isn’t the key/.test(text()));
  assert.match(text(), /"level":40.*the new TLS certificate can’t be used, so the old one stays/);
  rmSync(files.cert.path);
  await waitFor('the warning', () => /TLS_CERT names .*can’t be read \(ENOENT\)/.test(text()));
  assert.equal(certificate.current.cert, cert);
  writeFileSync(files.cert.path, next.cert);
  writeFileSync(files.key.path, next.key);
  await waitFor('the new certificate', () => certificate.current.cert === next.cert);
});

test('an expired certificate is used, and the log says so', (t) => {
  const files = writeCertificate(issued(-1));
  const { text } = watch(t, files);
  assert.match(text(), /the TLS certificate in .*cert\.pem has expired; clients will refuse it/);
});
