import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseDomainName } from '../../src/foundation/domain-name.ts';

test('a domain that is read is one that URLs have too, and is read as itself again', () => {
  fc.assert(
    fc.property(fc.oneof(fc.domain(), fc.string({ unit: 'grapheme' })), (text) => {
      const domain = parseDomainName(text);
      if (domain === undefined) return;
      assert.equal(parseDomainName(domain), domain);
      assert.equal(new URL(`http://${domain}/`).hostname, domain);
    }),
  );
  fc.assert(
    fc.property(fc.domain(), (domain) => {
      assert.equal(parseDomainName(domain.toUpperCase()), domain.toLowerCase());
    }),
  );
});

test('international domains become A-labels, and addresses are no domains', () => {
  assert.equal(parseDomainName('Bücher.example'), 'xn--bcher-kva.example');
  assert.equal(parseDomainName('localhost'), 'localhost');
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
    assert.equal(parseDomainName(text), undefined, text);
});

test('one label is a name only where it is asked for', () => {
  assert.equal(parseDomainName('Mail'), undefined);
  assert.equal(parseDomainName('Mail', { allowOneLabel: true }), 'mail');
  for (const text of ['1', '-', 'a_b', 'ä'])
    assert.equal(parseDomainName(text, { allowOneLabel: true }), undefined, text);
});
