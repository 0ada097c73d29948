import assert from 'node:assert/strict';
import { test } from 'node:test';
import { render } from '../../support/render-template.ts';

for (const [href, value, expected] of [
  ['tel:{{V}}', '+43 1 234-56', 'tel:+431234-56'],
  ['tel:{{V}}', '(0)1;x=1', 'tel:(0)1%3Bx%3D1'],
  ['mailto:{{V}}', 'ada@shop.test', 'mailto:ada@shop.test'],
  ['mailto:{{V}}', 'a@b.test?bcc=c@d.test', 'mailto:a@b.test%3Fbcc%3Dc@d.test'],
  ['mailto:a@b.test?cc={{V}}', 'c@d.test', 'mailto:a@b.test?cc=c%40d.test'],
  ['https://x.test/{{V}}', 'a@b +1', 'https://x.test/a%40b%20%2B1'],
] as const)
  test(`RFC 3966, RFC 6068: ${value} in ${href} becomes ${expected}`, async () => {
    const { html } = await render({ html: `<a href="${href}">x</a>` }, { V: value });
    assert.ok(html?.includes(`href="${expected}"`), html ?? '');
  });
