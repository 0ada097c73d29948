import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  canonicalLocale,
  formattingLocale,
  lookUpLocale,
} from '../../../src/content/template/locale.ts';

test('RFC 4647 3.4: the range is shortened from its end until a locale matches', () => {
  const locales = ['de', 'de-CH', 'zh-Hant', 'en-GB', 'sl'];
  for (const [range, found] of [
    ['de', 'de'],
    ['de-AT', 'de'],
    ['de-CH', 'de-CH'],
    ['de-CH-1996', 'de-CH'],
    ['zh-Hant-TW', 'zh-Hant'],
    ['zh-Hans-CN', undefined],
    ['en', undefined],
    ['en-US', undefined],
    ['dea', undefined],
    ['sl-IT-nedis', 'sl'],
    ['de-u-nu-arab', 'de'],
    ['de-CH-x-a-b', 'de-CH'],
  ] as const)
    assert.equal(lookUpLocale(range, locales), found, range);
});

test('RFC 4647 3.4: a subtag of one character goes with what follows it', () => {
  assert.equal(lookUpLocale('de-x-a', ['de-x']), undefined);
});

test('a language tag is canonical, well-formed and not longer than 35 characters', () => {
  assert.equal(canonicalLocale('DE-at'), 'de-AT');
  assert.equal(canonicalLocale('iw'), 'he');
  const found = canonicalLocale('de-Latn-AT-1901-abcde-abcdef-ghijkl');
  assert.equal(found?.length, 35);
  assert.equal(canonicalLocale('de-Latn-AT-1901-abcde-abcdef-ghijklg'), undefined);
  for (const bad of ['', '*', 'de_AT', 'german language', 'de-', '-de', 'd', 'de-a', 'x-y', '\0'])
    assert.equal(canonicalLocale(bad), undefined, bad);
});

test('dates follow the requested locale only where it refines that of the text', () => {
  for (const [text, requested, used] of [
    [undefined, undefined, 'en-US'],
    [undefined, 'de', 'en-US'],
    [undefined, 'en-GB', 'en-GB'],
    ['de', undefined, 'de'],
    ['de', 'de-AT', 'de-AT'],
    ['de', 'fr', 'de'],
    ['de', 'den', 'de'],
    ['de-AT', 'de', 'de-AT'],
    ['zh', 'zh-Hant', 'zh'],
    ['zh', 'zh-Hans-SG', 'zh-Hans-SG'],
    ['sr', 'sr-Latn-RS', 'sr'],
  ] as const)
    assert.equal(formattingLocale(text, requested), used, `${text} ${requested}`);
});

test('any text is either no language tag or one that Intl can format with', () => {
  const subtag = fc.stringMatching(/^[a-zA-Z0-9]{1,9}$/);
  const tag = fc.array(subtag, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('-'));
  fc.assert(
    fc.property(fc.oneof(fc.string(), tag), (text) => {
      const locale = canonicalLocale(text);
      if (locale === undefined) return;
      assert.equal(canonicalLocale(locale) ?? locale, locale);
      assert.ok(new Intl.DateTimeFormat(formattingLocale(locale, locale)).format(0) !== '');
      assert.equal(lookUpLocale(locale, [locale]), locale);
    }),
  );
});
