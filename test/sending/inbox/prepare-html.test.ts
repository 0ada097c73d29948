import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { prepareHtmlJob } from '../../../src/sending/inbox/prepare-html-job.ts';
import { cutAtLinks, safeLink } from '../../../src/sending/inbox/safe-link.ts';

const prepareHtml = (html: string) => prepareHtmlJob({ source: Buffer.from(html) });

test('links are listed in order with their text', () => {
  const { links } = prepareHtml(`
    <a href="https://shop.test/a">First <b>one</b></a>
    <a href="https://shop.test/b"><img alt="A picture" src="data:,"></a>
    <a href="mailto:help@shop.test"> </a>
    <map><area href="tel:+15550100" alt="x"></map>`);
  assert.deepEqual(links, [
    { label: 'First one', href: 'https://shop.test/a' },
    { label: 'A picture', href: 'https://shop.test/b' },
    { label: 'mailto:help@shop.test', href: 'mailto:help@shop.test' },
    { label: 'tel:+15550100', href: 'tel:+15550100' },
  ]);
});

test('only links to pages, email addresses and phone numbers are active', () => {
  for (const href of [
    'https://a.test',
    'HTTP://a.test',
    ' https://a.test ',
    'mailto:a@b.test',
    'tel:1',
  ])
    assert.ok(safeLink(href), href);
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
    assert.equal(safeLink(href), undefined, href);
});

test('remote content is counted', () => {
  const { remoteLoads } = prepareHtml(`
    <img src="https://a.test/x.png"><img srcset="//a.test/x.png 2x"><img src="data:image/png;base64,x"><img src="cid:x">
    <table background="http://a.test/x"><tr><td style="background: url('https://a.test/y')">x</td></tr></table>`);
  assert.equal(remoteLoads, 4);
});

test('endless or endlessly nested HTML is shown unchanged', () => {
  const link = '<a href="https://a.test">x</a>';
  for (const html of [link + '<div>'.repeat(100_000), link + 'x'.repeat(2 * 1024 ** 2)])
    assert.deepEqual(prepareHtml(html), { html, links: [], remoteLoads: 0 });
  const nested = '<div>'.repeat(400) + link;
  assert.equal(prepareHtml(nested).links.length, 1);
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
