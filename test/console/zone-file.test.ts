import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zoneFile } from '../../console/src/domain/zone-file.ts';

const record = {
  kind: 'dkim',
  name: 's._domainkey.shop.test',
  type: 'TXT',
  expected: '',
  required: true,
  why: '',
  state: 'missing',
  found: [],
  explanation: null,
  resolver: null,
  checkedAt: null,
};

test('a key longer than 255 octets is split into several strings of one record', () => {
  const expected = `v=DKIM1; k=rsa; p=${'A'.repeat(392)}`;
  const line = zoneFile([{ ...record, expected }]);
  const strings = [...line.matchAll(/"([^"]*)"/g)].map(([, one = '']) => one);
  assert.ok(line.startsWith('s._domainkey.shop.test. 3600 IN TXT "v=DKIM1;'));
  assert.ok(strings.every((one) => one.length <= 255));
  assert.equal(strings.join(''), expected);
});

test('quotes and backslashes are escaped, and other record types are unchanged', () => {
  const lines = zoneFile([
    { ...record, expected: 'a "b" \\c' },
    { ...record, type: 'MX', expected: '10 mail.shop.test.' },
  ]);
  assert.ok(lines.includes('"a \\"b\\" \\\\c"\n'));
  assert.ok(lines.endsWith(' IN MX 10 mail.shop.test.\n'));
});
