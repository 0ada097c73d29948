import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../../src/operating/config/config.ts';
import { findSettingWarnings } from '../../../src/operating/config/find-setting-warnings.ts';

test('a misspelled setting is named with the one that was meant', () => {
  for (const [typed, meant] of [
    ['SMTP_ULR', 'SMTP_URL'],
    ['smtp_url', 'SMTP_URL'],
    ['SMTP_HOST_NAME', 'SMTP_HOSTNAME'],
    ['PUBLC_URL', 'PUBLIC_URL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['SYTEM_MAIL_FORM', 'SYSTEM_MAIL_FROM'],
    ['SMTP_ULR_FILE', 'SMTP_URL_FILE'],
    ['BOUNCE_TLS_CERTS', 'BOUNCE_TLS_CERT'],
    ['SIGNALPOST-KEY', 'SIGNALPOST_KEY'],
  ] as const)
    assert.deepEqual(findSettingWarnings({ [typed]: 'x' }), [
      `${typed} isn’t a setting and has no effect. Did you mean ${meant}?`,
    ]);
});

test('settings, variables of other programs and empty variables are not reported', () => {
  const others = {
    PATH: '/bin',
    HOSTNAME: 'web-1',
    POST: '1',
    DEMO_API_KEY: 'x',
    SIGNALPOST_API_KEY: 'x',
    SIGNALPOST_URL: 'x',
    SIGNALPOST_USER: 'x',
    SMTP_PORT: 'tcp://10.0.0.1:25',
    NODE_ENV: 'production',
  };
  const settings = {
    SMTP_URL_FILE: '/run/secret',
    BOUNCE_TLS_KEY: 'a',
    DATA_DIR: '/srv',
    PORT: '0',
  };
  assert.deepEqual(findSettingWarnings({ ...others, ...settings, SMTP_ULR: ' ' }), []);
  // Another program's variable beside the setting itself.
  assert.deepEqual(findSettingWarnings({ DATABASE_URL: 'a', DATABASE_URI: 'b' }), []);
});

test('an error about a missing setting also names its misspelling', () => {
  assert.throws(() => readConfig({ DELIVERY: 'relay', SMTP_ULR: 'smtp://relay.example:25' }), {
    message: /^DELIVERY=relay needs SMTP_URL.*\nSMTP_ULR isn’t a setting/,
  });
});
