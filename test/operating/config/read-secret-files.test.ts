import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { OperatorError } from '../../../src/base/values/errors.ts';
import { readConfig } from '../../../src/operating/config/config.ts';
import { readSecretFiles } from '../../../src/operating/config/read-secret-files.ts';
import { secretNames } from '../../../src/operating/config/settings-table.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();

function fileWith(text: string): string {
  const file = join(folder, `secret-${secretNumber++}`);
  writeFileSync(file, text);
  return file;
}
let secretNumber = 1;

test('every secret can come from the file in NAME_FILE, without its final newline', () => {
  assert.ok(secretNames.length >= 9);
  assert.ok(secretNames.includes('SIGNALPOST_KEY_PREVIOUS'));
  for (const name of secretNames) {
    for (const text of ['a secret', 'a secret\n', 'a secret\r\n']) {
      const read = readSecretFiles({ OTHER: 'kept', [`${name}_FILE`]: fileWith(text) });
      assert.equal(read[name], 'a secret', name);
      assert.equal(read.OTHER, 'kept');
    }
    assert.equal(readSecretFiles({ [name]: 'x', [`${name}_FILE`]: ' ' })[name], 'x', 'not set');
  }
  assert.equal(readSecretFiles({ X_FILE: fileWith('a\n\n') }).X, undefined, 'not a secret setting');
});

test('settings from files are the ones the service uses', () => {
  const key = Buffer.alloc(32, 9).toString('base64');
  const config = readConfig({
    SIGNALPOST_KEY_FILE: fileWith(`${key}\n`),
    DATABASE_URL_FILE: fileWith('postgres://u:p@db.test/mail\n'),
    SMTP_URL_FILE: fileWith('smtp://u:p@relay.test:587\n'),
    INBOX_TOKEN_FILE: fileWith('0123456789abcdef\n'),
    METRICS_TOKEN_FILE: fileWith('fedcba9876543210\n'),
    INTAKE_POSTMARK_PASSWORD_FILE: fileWith('postmark\n'),
    INTAKE_MAILGUN_KEY_FILE: fileWith('mailgun\n'),
    INTAKE_SENDGRID_KEY_FILE: fileWith('sendgrid\n'),
  });
  assert.equal(config.key, key);
  assert.equal(config.databaseUrl, 'postgres://u:p@db.test/mail');
  assert.equal(config.smtpUrl, 'smtp://u:p@relay.test:587');
  assert.equal(config.delivery, 'relay');
  assert.equal(config.inboxToken, '0123456789abcdef');
  assert.deepEqual(config.metrics, { public: false, token: 'fedcba9876543210' });
  const { postmarkPassword, mailgunKey, sendgridKey } = config.intake;
  assert.deepEqual(
    [postmarkPassword, mailgunKey, sendgridKey],
    ['postmark', 'mailgun', 'sendgrid'],
  );
});

const refusals: readonly (readonly [string, Record<string, string>, RegExp])[] = [
  [
    'a secret that is set twice',
    { SMTP_URL: 'smtp://a', SMTP_URL_FILE: fileWith('smtp://b') },
    /^Both SMTP_URL and SMTP_URL_FILE are set; remove one of them\.$/,
  ],
  [
    'a file that is missing',
    { SIGNALPOST_KEY_FILE: join(folder, 'none') },
    /^SIGNALPOST_KEY_FILE names .*none, which can’t be read \(ENOENT\)\.$/,
  ],
  ['a folder', { INBOX_TOKEN_FILE: folder }, /can’t be read \(EISDIR\)/],
  [
    'an empty file',
    { INBOX_TOKEN_FILE: fileWith('\n') },
    /^INBOX_TOKEN_FILE names .*, which is empty\. Write the secret to it\.$/,
  ],
  ['a token that is short', { INBOX_TOKEN: 'short' }, /^INBOX_TOKEN must be 16 to 512 letters/],
  ['a token with a space', { METRICS_TOKEN: 'a token with spaces' }, /^METRICS_TOKEN must be/],
  [
    'metrics that are open and have a token',
    { METRICS_PUBLIC: '1', METRICS_TOKEN: '0123456789abcdef' },
    /^METRICS_PUBLIC=1 opens \/metrics to everyone, so METRICS_TOKEN protects nothing/,
  ],
];
for (const [what, environment, sentence] of refusals)
  test(`${what} stops the start with a message that reveals no secret`, () => {
    assert.throws(
      () => readConfig(environment),
      (error) => {
        assert.ok(error instanceof OperatorError);
        assert.match(error.message, sentence);
        assert.doesNotMatch(error.message, /smtp:\/\/|0123456789abcdef|a token with/);
        return true;
      },
    );
  });
