import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decideSts } from '../../../src/sending/delivery/mta-sts/sts-policies.ts';
import {
  allowsHost,
  parseStsPolicy,
  readStsRecord,
} from '../../../src/sending/delivery/mta-sts/sts-policy.ts';
import type { StoredStsPolicy } from '../../../src/sending/delivery/mta-sts/sts-policy-store.ts';

const example =
  'version: STSv1\r\nmode: enforce\r\nmx: mail.example.com\r\nmx: *.example.net\r\nmax_age: 604800\r\n';

test('RFC 8461 3.2: the example policy is parsed', () => {
  assert.deepEqual(parseStsPolicy(example), {
    mode: 'enforce',
    mx: ['mail.example.com', '*.example.net'],
    maxAge: 604_800,
  });
});

for (const [what, text] of [
  ['no version', example.replace('version: STSv1\r\n', '')],
  ['another version', example.replace('STSv1', 'STSv2')],
  ['no mode', example.replace('mode: enforce\r\n', '')],
  ['an unknown mode', example.replace('enforce', 'maybe')],
  ['no hosts', 'version: STSv1\nmode: enforce\nmax_age: 1'],
  ['no age', example.replace(/max_age.*/, '')],
  ['a negative age', example.replace('604800', '-1')],
  ['a wildcard inside', example.replace('*.example.net', 'mx.*.example.net')],
  ['a line without a colon', `${example}nonsense\r\n`],
  ['a page', '<html><body>Not found</body></html>'],
] as const) {
  test(`RFC 8461 3.2: a file with ${what} is not a policy`, () => {
    assert.equal(parseStsPolicy(text), undefined);
  });
}

test('RFC 8461 3.2: bare line feeds, unknown fields and a second mode are accepted; the age is capped at a year', () => {
  const text = 'version: STSv1\nmode: none\nmode: enforce\nfuture: x\nmax_age: 9999999999\n';
  assert.deepEqual(parseStsPolicy(text), { mode: 'none', mx: [], maxAge: 31_557_600 });
});

test('RFC 8461 3.1: one record is used; several count as none', () => {
  assert.equal(readStsRecord(['v=STSv1; id=20160831085700Z;']), '20160831085700Z');
  assert.equal(readStsRecord(['other', 'v=STSv1;id=1']), '1');
  assert.equal(readStsRecord(['v=STSv1; id=1;', 'v=STSv1; id=2;']), undefined);
  for (const record of ['v=STSv1;', 'v=STSv1; id=', 'v=STSv1; id=a-b;', 'v=STSv2; id=1;', ''])
    assert.equal(readStsRecord([record]), undefined);
});

test('RFC 8461 4.1: a wildcard matches one label', () => {
  const policy = parseStsPolicy(example);
  assert.ok(policy);
  for (const host of ['mail.example.com', 'MX1.Example.NET', 'mail.example.com.'])
    assert.ok(allowsHost(policy, host), host);
  for (const host of ['example.com', 'a.mail.example.com', 'example.net', 'a.b.example.net', 'net'])
    assert.ok(!allowsHost(policy, host), host);
});

test('an arbitrary policy file is read safely', () => {
  fc.assert(fc.property(fc.string(), (text) => parseStsPolicy(text) === undefined));
});

const day = 86_400_000;
const kept: StoredStsPolicy = {
  domain: 'a.test',
  recordId: '1',
  policy: { mode: 'enforce', mx: ['mx.a.test'], maxAge: 604_800 },
  fetchedAt: new Date(10 * day),
};

for (const [what, record, had, at, kind] of [
  ['no record and nothing kept: none', { kind: 'none' }, undefined, 10, 'none'],
  ['a DNS fault and nothing kept: none', { kind: 'fault' }, undefined, 10, 'none'],
  ['a record and nothing kept: fetch', { kind: 'id', id: '1' }, undefined, 10, 'fetch'],
  ['the same record: use', { kind: 'id', id: '1' }, kept, 10.5, 'use'],
  ['another record: fetch', { kind: 'id', id: '2' }, kept, 10.5, 'fetch'],
  ['the record is gone, the policy not old: use', { kind: 'none' }, kept, 16, 'use'],
  ['a DNS fault, the policy not old: use', { kind: 'fault' }, kept, 16, 'use'],
  ['the record is gone, the policy too old: none', { kind: 'none' }, kept, 18, 'none'],
  ['the same record, the policy too old: fetch', { kind: 'id', id: '1' }, kept, 18, 'fetch'],
] as const) {
  test(`RFC 8461 5.1: ${what}`, () => {
    assert.equal(decideSts(record, had, at * day).kind, kind);
  });
}

test('RFC 8461 3.3: a policy is renewed after a day or half its age, whichever is shorter', () => {
  const record = { kind: 'id', id: '1' } as const;
  const renews = (policy: StoredStsPolicy, at: number): boolean => {
    const step = decideSts(record, policy, at);
    return step.kind === 'use' && step.renew;
  };
  assert.deepEqual([renews(kept, 10.9 * day), renews(kept, 11.1 * day)], [false, true]);
  const short = { ...kept, policy: { ...kept.policy, maxAge: 3_600 } };
  const minute = 60_000;
  assert.deepEqual(
    [renews(short, 10 * day + 29 * minute), renews(short, 10 * day + 31 * minute)],
    [false, true],
  );
});

test('RFC 8461 5.1: a cached policy applies if the new one cannot be fetched', () => {
  const step = decideSts({ kind: 'id', id: '2' }, kept, 11 * day);
  assert.ok(step.kind === 'fetch');
  assert.equal(step.otherwise, kept.policy);
});
