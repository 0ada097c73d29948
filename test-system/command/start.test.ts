import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../../test/support/run-command.ts';
import { runNpmStart, runSignalpost } from '../../test/support/run-signalpost.ts';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { TestAuthority } from '../../test/support/test-certificates.ts';

const folder = temporaryFolder();
// Setting up the demo compiles its templates.
const dataDir = join(folder, 'data');
const environment = { DATA_DIR: dataDir, PORT: '0', DEMO: '0', LOG_LEVEL: 'warn' };
const address = /Service\s+(http:\/\/\S+)/;

const first = runSignalpost(['start'], environment);

test('a start prints its URL and listens there', async () => {
  const [, url] = await first.printed(address);
  const response = await fetch(`${url}/readyz`);
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { status: 'ready' });
});

test('a second service on the same folder ends with a message and 1', async () => {
  const second = runSignalpost(['start'], environment);
  assert.equal(await second.exit, 1);
  assert.match(
    second.output.stderr,
    /^signalpost: Another Signalpost .* is already running on .*\n$/,
  );
});

test('after kill -9 of the service, the next start recovers, and SIGTERM ends it with 0', async () => {
  first.child.kill('SIGKILL');
  await first.exit;
  const second = runSignalpost(['start'], environment);
  const [, url] = await second.printed(address);
  assert.equal((await fetch(`${url}/readyz`)).status, 200);
  second.child.kill('SIGTERM');
  assert.equal(await second.exit, 0);
});

for (const [what, stop] of [
  ['SIGTERM to npm', (pid: number) => process.kill(pid, 'SIGTERM')],
  ['Ctrl-C in its terminal', (pid: number) => process.kill(-pid, 'SIGINT')],
] as const)
  test(`npm start is stopped gracefully by ${what}`, async () => {
    const service = runNpmStart({ ...environment, LOG_LEVEL: 'info' });
    await service.printed(address);
    const { pid } = JSON.parse(readFileSync(join(dataDir, 'service.json'), 'utf8')) as {
      pid: number;
    };
    stop(service.child.pid ?? 0);
    await service.exit;
    assert.throws(() => process.kill(pid, 0), 'the service itself has ended');
    assert.equal(existsSync(join(dataDir, 'database', 'postmaster.pid')), false);
    assert.match(service.output.stdout + service.output.stderr, /"msg":"stopping"/);
  });

test('SIGTERM during the start ends it with 0', async () => {
  const service = runSignalpost(['start'], {
    ...environment,
    DATA_DIR: join(folder, 'early'),
    LOG_LEVEL: 'info',
  });
  await once(service.child, 'spawn');
  service.child.stderr?.once('data', () => service.child.kill('SIGTERM'));
  assert.equal(await service.exit, 0);
});

const issued = new TestAuthority().issue(['localhost']);
const certificate = join(folder, 'submission.pem');
writeFileSync(certificate, `${issued.cert}${issued.key}`);
const submission = {
  SUBMISSION_HOST: '127.0.0.1',
  SUBMISSION_PORT: '0',
  SUBMISSION_TLS_CERT: certificate,
  SUBMISSION_TLS_KEY: certificate,
};

for (const [setting, others, advice] of [
  ['PORT', {}, ''],
  ['BOUNCE_PORT', { BOUNCE_HOST: '127.0.0.1' }, 'set BOUNCE_PORT '],
  ['SUBMISSION_TLS_PORT', submission, 'set SUBMISSION_TLS_PORT '],
] as const)
  test(`a port in use, set by ${setting}, gives a one-sentence message and exit code 1`, async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const settings = { ...environment, ...others, [setting]: String(port) };
    const { code, err } = await runInProcess(['start'], settings);
    assert.equal(code, 1);
    other.close();
    const start = `^signalpost: Port ${port} on 127\\.0\\.0\\.1 is already in use; `;
    assert.match(err, new RegExp(`${start}${advice}.*\\n$`));
  });

const file = join(folder, 'file');
writeFileSync(file, '');
mkdirSync(join(folder, 'empty'));

const mistakes: [string, Record<string, string>, RegExp][] = [
  ['a port that is no number', { PORT: 'http' }, /PORT must be a number from 0 to 65535/],
  [
    'an unreachable database',
    { DATABASE_URL: 'postgres://u:hidden-password@127.0.0.1:1/x' },
    /Can’t use the database at 127\.0\.0\.1:1\/x/,
  ],
  [
    'a database address of another kind',
    { DATABASE_URL: 'mysql://x' },
    /DATABASE_URL must look like/,
  ],
  ['a relay without its address', { DELIVERY: 'relay' }, /DELIVERY=relay needs SMTP_URL/],
  [
    'a relay that the delivery does not use',
    { DELIVERY: 'inbox', SMTP_URL: 'smtp://127.0.0.1' },
    /SMTP_URL is set, but DELIVERY=inbox/,
  ],
  ['direct delivery without a name', { DELIVERY: 'direct' }, /DELIVERY=direct needs SMTP_HOSTNAME/],
  [
    'a setting of another way of delivery',
    { DIRECT_SOURCES: '192.0.2.1=mail.shop.test' },
    /DIRECT_SOURCES is set, but DELIVERY=inbox does not use it/,
  ],
  ['a report server without a port', { BOUNCE_HOST: '::' }, /BOUNCE_HOST is set, but/],
  [
    'a certificate that is none',
    { BOUNCE_PORT: '0', BOUNCE_TLS_KEY: file, BOUNCE_TLS_CERT: file },
    /BOUNCE_TLS_CERT names .*, which isn’t a certificate in PEM/,
  ],
  [
    'submission without a certificate',
    { SUBMISSION_PORT: '0' },
    /SUBMISSION_PORT and SUBMISSION_TLS_PORT need a certificate/,
  ],
  [
    'a submission host without a port',
    { SUBMISSION_HOST: '::' },
    /SUBMISSION_HOST is set, but nothing listens/,
  ],
  [
    'a host name with a space',
    { SMTP_HOSTNAME: 'mail shop.test' },
    /SMTP_HOSTNAME must be a host name, such as mail\.example\.com, not "mail shop\.test"/,
  ],
  [
    'a public address that ends with a question mark',
    { PUBLIC_URL: 'https://mail.shop.test/?' },
    /PUBLIC_URL must be an http or https URL without a query/,
  ],
  [
    'a public address without TLS',
    { PUBLIC_URL: 'http://mail.shop.test' },
    /^signalpost: PUBLIC_URL=http:\/\/mail\.shop\.test would send .* ALLOW_INSECURE_PUBLIC_URL=1/,
  ],
  [
    'a secret’s file that is not there',
    { SMTP_URL_FILE: join(folder, 'not-there') },
    /^signalpost: SMTP_URL_FILE names .*not-there, which can’t be read \(ENOENT\)\.\n$/,
  ],
  ['a proxy that is no address', { TRUST_PROXY: '10.0.0.1,proxy' }, /TRUST_PROXY must list/],
  [
    'a redirect to nowhere',
    { DELIVERY_REDIRECT: 'nonsense' },
    /DELIVERY_REDIRECT must be an email address, not "nonsense"/,
  ],
  ['an allowed domain that is none', { DELIVERY_ALLOW: 'a.test,@b' }, /DELIVERY_ALLOW must list/],
  ['a number of days that is none', { AUDIT_DAYS: '-1' }, /AUDIT_DAYS must be a number of days/],
  ['a session without an end', { SESSION_IDLE_HOURS: '0' }, /SESSION_IDLE_HOURS must be a number/],
  ['a key of the wrong length', { SIGNALPOST_KEY: 'c2hvcnQ=' }, /SIGNALPOST_KEY must be 32 bytes/],
  [
    'a data folder that is a file',
    { DATA_DIR: file },
    /file is not a folder\. Set DATA_DIR to a folder/,
  ],
  [
    'an address of another machine',
    { HOST: '203.0.113.1', DATA_DIR: join(folder, 'empty') },
    /HOST 203\.0\.113\.1 is not an address of this machine/,
  ],
];

for (const [name, wrong, sentence] of mistakes) {
  test(`${name} stops the start with a one-sentence message and exit code 1`, async () => {
    const { code, err } = await runInProcess(['start'], { ...environment, ...wrong });
    assert.equal(code, 1);
    assert.match(err, sentence);
    assert.match(err, /^signalpost: [^\n]+\n$/);
    assert.doesNotMatch(err, /hidden-password/);
  });
}
