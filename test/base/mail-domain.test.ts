import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseMailDomain } from '../../src/base/values/mail-domain.ts';

test('a parsed domain is valid in URLs and parses to itself', () => {
  fc.assert(
    fc.property(fc.oneof(fc.domain(), fc.string({ unit: 'grapheme' })), (text) => {
      const domain = parseMailDomain(text);
      if (domain === undefined) return;
      assert.equal(parseMailDomain(domain), domain);
      assert.equal(new URL(`http://${domain}/`).hostname, domain);
    }),
  );
  fc.assert(
    fc.property(fc.domain(), (domain) => {
      assert.equal(parseMailDomain(domain.toUpperCase()), domain.toLowerCase());
    }),
  );
});

test('international domains become A-labels, and IP addresses are not domains', () => {
  assert.equal(parseMailDomain('Bücher.example'), 'xn--bcher-kva.example');
  assert.equal(parseMailDomain('localhost'), 'localhost');
  for (const text of [
    '',
    '.',
    'a..b',
    'a.b.',
    '-a.test',
    '192.0.2.1',
    '0x7f.1',
    'a@b.test',
    'a b.test',
  ])
    assert.equal(parseMailDomain(text), undefined, text);
});

test('a single label is valid only if allowed', () => {
  assert.equal(parseMailDomain('Mail'), undefined);
  assert.equal(parseMailDomain('Mail', { allowOneLabel: true }), 'mail');
  for (const text of ['1', '-', 'a_b', 'ä'])
    assert.equal(parseMailDomain(text, { allowOneLabel: true }), undefined, text);
});
