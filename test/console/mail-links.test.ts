import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isSafeLink } from '../../console/src/frame/safe-link.ts';
import { cutAtLinks } from '../../console/src/inbox/mail-links.ts';

test('only links to pages, email addresses and phone numbers are active', () => {
  for (const href of [
    'https://a.test',
    'HTTP://a.test',
    ' https://a.test ',
    'mailto:a@b.test',
    'tel:1',
  ])
    assert.ok(isSafeLink(href), href);
  for (const href of [
    'javascript:alert(1)',
    ' JavaScript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'blob:https://a.test/x',
    'vbscript:x',
    '/inbox/empty',
    '//a.test',
    '',
    '#top',
  ])
    assert.equal(isSafeLink(href), false, href);
});

test('URLs in text become links, without surrounding punctuation', () => {
  const hrefs = (text: string) => cutAtLinks(text).flatMap(({ href }) => href ?? []);
  assert.deepEqual(hrefs('See https://a.test/x?y=1&z=2.'), ['https://a.test/x?y=1&z=2']);
  assert.deepEqual(hrefs('(https://a.test/x) <https://b.test/y>'), [
    'https://a.test/x',
    'https://b.test/y',
  ]);
  assert.deepEqual(hrefs('https://a.test/(x)'), ['https://a.test/(x)']);
  assert.deepEqual(hrefs('javascript:alert(1) ftp://a.test http:// https://'), []);
});

test('splitting text at links loses nothing', () => {
  const piece = fc.oneof(
    fc.constantFrom('https://', 'http://a.test', '.', ')', ' ', '\n', '<', '"', '://'),
    fc.string({ maxLength: 8 }),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = pieces.join('');
      assert.equal(
        cutAtLinks(text)
          .map((cut) => cut.text)
          .join(''),
        text,
      );
    }),
  );
});
