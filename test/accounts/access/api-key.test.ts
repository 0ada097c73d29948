import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  ApiKeyParser,
  generateApiKey,
  looksLikeApiKey,
} from '../../../src/accounts/access/api-key.ts';
import { hashToken } from '../../../src/accounts/access/token-mint.ts';
import { MasterKey } from '../../../src/base/secrets/master-key.ts';
import type { AccountId } from '../../../src/base/values/ids.ts';

const keys = new ApiKeyParser(new MasterKey(randomBytes(32)));
const letters = 'ABCXYZabcxyz0189_-';
const accountId = fc
  .string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 64 })
  .map((text) => text as AccountId);

test('a key contains its account, even if the account id looks like part of a key', () => {
  const inner = generateApiKey('a' as AccountId).text.slice(0, 64);
  fc.assert(
    fc.property(fc.oneof(accountId, fc.constantFrom('_', '__', inner)), (id) => {
      const made = generateApiKey(id as AccountId);
      assert.ok(looksLikeApiKey(made.text));
      assert.deepEqual(keys.parse(made.text), {
        accountId: id,
        hash: hashToken(made.text),
        olderHashes: [],
      });
      assert.match(made.text, /^sp_[A-Za-z0-9_-]{1,64}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
      assert.equal(made.text.slice(-11, -7), made.hint);
    }),
  );
});

test('ASVS 4.0.3 2.10.4: a key with one character changed, missing or doubled is rejected without a query', () => {
  const changed = fc.string({
    unit: fc.constantFrom(...letters, '.', ' ', '~'),
    minLength: 1,
    maxLength: 1,
  });
  fc.assert(
    fc.property(accountId, fc.nat(), changed, (id, place, character) => {
      const { text } = generateApiKey(id);
      const at = place % text.length;
      const [before, after] = [text.slice(0, at), text.slice(at + 1)];
      fc.pre(text[at] !== character);
      assert.equal(keys.parse(before + character + after), undefined);
      assert.equal(keys.parse(before + after), undefined);
      assert.equal(keys.parse(before + text[at] + text[at] + after), undefined);
    }),
  );
});

test('text in neither format is not a key, and legacy keys contain their account', () => {
  for (const text of [
    '',
    'sp_',
    'spk.',
    'sp_46100_',
    'spk.46100.short',
    `sp_46100_${'a'.repeat(43)}_000000`,
  ])
    assert.equal(keys.parse(text), undefined, text);
  const earlier = keys.parse(`spk.46100.${'a'.repeat(43)}`);
  assert.equal(earlier?.accountId, '46100');
  assert.notDeepEqual(earlier.hash, hashToken(`spk.46100.${'a'.repeat(43)}`));
});

test('keys are unique, and every character of the alphabet is equally likely', () => {
  const counts = new Map<string, number>();
  const texts = new Set<string>();
  for (let made = 0; made < 5_000; made += 1) {
    const { text } = generateApiKey('1' as AccountId);
    texts.add(text);
    for (const character of text.slice(5, 48))
      counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  assert.equal(texts.size, 5_000);
  assert.equal(counts.size, 62);
  const mean = (5_000 * 43) / 62;
  // Six standard deviations: taking the whole byte modulo 62 would be off by a quarter.
  for (const [character, count] of counts)
    assert.ok(Math.abs(count - mean) < 6 * Math.sqrt(mean), `${character}: ${count} of ${mean}`);
});
