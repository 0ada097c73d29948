import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../../src/operating/config/config.ts';

const recipient = 'age1yy2kyak9s0v426shkxkfqzpefgplvtpseegsfflgex5r82jt296qdmpllw';
const base = { BACKUP_TO: '/mnt/backup', BACKUP_RECIPIENT: recipient, DATA_DIR: '/var/lib/sp' };

function assertRefused(settings: Record<string, string | undefined>, message: RegExp): void {
  assert.throws(() => readConfig({ ...base, ...settings }), message);
}

test('backups have defaults, and times with a unit', () => {
  const { backup } = readConfig(base);
  assert.equal(backup.everySeconds, 300);
  assert.equal(backup.keepDays, 14);
  assert.equal(readConfig({ ...base, BACKUP_EVERY: '1h' }).backup.everySeconds, 3_600);
});

test('settings of backups that can’t work are refused with the fix', () => {
  assertRefused({ BACKUP_RECIPIENT: undefined }, /BACKUP_TO needs BACKUP_RECIPIENT/);
  assertRefused({ BACKUP_RECIPIENT: 'age1nonsense' }, /must be an age public key/);
  assertRefused({ BACKUP_RECIPIENT: 'AGE-SECRET-KEY-1X' }, /This is a private key/);
  assertRefused({ BACKUP_TO: '/var/lib/sp/backup' }, /must be outside DATA_DIR/);
  assertRefused({ BACKUP_TO: 's3://bucket' }, /needs BACKUP_S3_ENDPOINT/);
  assertRefused({ BACKUP_S3_ENDPOINT: 'https://s3.test' }, /belong together/);
  assertRefused({ BACKUP_EVERY: '5' }, /must be a time such as 30s/);
  assertRefused({ BACKUP_EVERY: '48h' }, /up to 24h/);
  assertRefused({ DATABASE_URL: 'postgres://u:p@db/x' }, /docs\/operate\/back-up\.md/);
});
