import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { renderMessage } from '../../../src/content/rendering/render-message.ts';
import { missingFields } from '../../../src/content/template/template-fields.ts';
import type { FieldSettings } from '../../../src/content/template/template-source.ts';
import { loadSource } from '../../support/render-template.ts';

async function demo(name: string, fields: Record<string, FieldSettings>) {
  const mjml = await readFile(new URL(`../../../demo/${name}.mjml`, import.meta.url), 'utf8');
  return loadSource({ subject: 's', mjml, fields });
}

const empty = Object.fromEntries(
  `Order Date,Shipping,Total,Delivery Address,Invoice Link`
    .split(',')
    .map((name) => [name, { default: '' }]),
);

async function receipt() {
  return demo('receipt', {
    ...empty,
    Items: { kind: 'list', default: [] },
    'First Name': { default: 'there' },
    'Order Link': { default: 'https://shop.test/orders' },
    'Support Link': { default: 'mailto:help@shop.test' },
  });
}

async function passwordReset() {
  return demo('password-reset', {
    'First Name': { default: 'there' },
    'Reset Link': { secret: true },
    'Expires In': { default: '30 minutes' },
    'Requested From': { default: '' },
    'Support Link': { default: 'mailto:help@shop.test' },
  });
}

test('the demo receipt requires only an order number, and shows the given values', async () => {
  const template = await receipt();
  assert.deepEqual(missingFields(template.compiled, {}), ['Order Number']);
  const bare = renderMessage(template, { values: { 'Order Number': 'A-1' } });
  assert.deepEqual(bare.warnings, []);
  assert.doesNotMatch(bare.text ?? '', /Your items|Invoice|Delivered to|\n{4}/);
  const full = renderMessage(template, {
    values: {
      'Order Number': 'A-1',
      Items: [
        { Name: 'Tea & cups', Price: '9' },
        { Name: 'Milk', Price: '1' },
      ],
      Total: '10',
      'Invoice Link': 'https://shop.test/i',
    },
  });
  assert.match(full.html ?? '', /Tea &amp; cups/);
  assert.match(full.text ?? '', /Tea & cups €9\.00\nMilk €1\.00\nTotal €10\.00\n/);
  assert.match(full.text ?? '', /Download as PDF <https:\/\/shop\.test\/i>/);
});

test('the secret link of the demo password reset is never tracked', async () => {
  const template = await passwordReset();
  assert.deepEqual(missingFields(template.compiled, {}), ['Reset Link']);
  const secret = template.compiled.links.filter((link) => link.secret);
  assert.equal(secret.length, 2);
  assert.ok(secret.every((link) => !link.trackable));
  const { text } = renderMessage(template, { values: { 'Reset Link': 'https://shop.test/r?t=1' } });
  assert.match(text ?? '', /Choose a new password <https:\/\/shop\.test\/r\?t=1>/);
});

test('the demo templates load no remote content', async () => {
  for (const template of [await receipt(), await passwordReset()]) {
    const { html } = renderMessage(template, {
      values: { 'Order Number': 'A-1', 'Reset Link': 'https://shop.test/r' },
    });
    assert.doesNotMatch(html ?? '', /<link|@import|@font-face|url\(/i);
    assert.doesNotMatch(html ?? '', /src="(?!cid:)/i);
  }
});
