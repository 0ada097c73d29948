import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../../src/operating/config/config.ts';

function read(value: string): ReadonlyMap<string, string> {
  return readConfig({ DROP_IN_HOSTS: value }).dropInHosts;
}

test('DROP_IN_HOSTS maps host names to the prefixes of APIs', () => {
  assert.deepEqual([...read('')], []);
  assert.deepEqual(
    [...read('Resend.Mail.example=resend, localhost=resend')],
    [
      ['resend.mail.example', '/resend'],
      ['localhost', '/resend'],
    ],
  );
});

test('DROP_IN_HOSTS names an entry that is wrong', () => {
  for (const wrong of [
    'mail.example',
    'mail.example=other',
    'mail.example=resend=resend',
    '=resend',
  ])
    assert.throws(
      () => read(wrong),
      { name: 'OperatorError', message: /^DROP_IN_HOSTS must/ },
      wrong,
    );
  assert.throws(
    () => read('http://mail.example=resend'),
    /^OperatorError: DROP_IN_HOSTS must be a host name/,
  );
});
