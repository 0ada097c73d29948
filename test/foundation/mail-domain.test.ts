import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseMailDomain } from '../../src/foundation/mail-domain.ts';

test('a domain that is read is one that URLs have too, and is read as itself again', () => {
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

test('international domains become A-labels, and addresses are no domains', () => {
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

test('one label is a name only where it is asked for', () => {
  assert.equal(parseMailDomain('Mail'), undefined);
  assert.equal(parseMailDomain('Mail', { allowOneLabel: true }), 'mail');
  for (const text of ['1', '-', 'a_b', 'ä'])
    assert.equal(parseMailDomain(text, { allowOneLabel: true }), undefined, text);
});
