import assert from 'node:assert/strict';
import { test } from 'node:test';
import { render } from '../../support/render-template.ts';

async function textOf(html: string): Promise<string | undefined> {
  return (await render({ html })).text?.trim();
}

for (const style of [
  'display:none',
  'display : none',
  'DISPLAY:NONE !important; color: red',
  'visibility:hidden',
  'max-height:0;overflow:hidden',
  'max-height: 0px; overflow: hidden; opacity: 0',
  'height:0;overflow:hidden',
  'font-size:0',
  'font-size: 0px; line-height: 0',
])
  test(`text that "${style}" hides isn't in the derived text part`, async () => {
    assert.equal(await textOf(`<div style="${style}">Preheader</div><p>Hello</p>`), 'Hello');
  });

for (const style of ['max-height:0', 'overflow:hidden', 'font-size:10px', 'displays:none'])
  test(`text with "${style}" stays in the derived text part`, async () => {
    assert.equal(await textOf(`<div style="${style}">Shown</div>`), 'Shown');
  });

test('a layout cell without a font size keeps the text of what is in it', async () => {
  const html =
    '<table><tr><td style="font-size:0px;padding:10px"> <div style="font-size:13px">Hello</div></td></tr></table>';
  assert.equal(await textOf(html), 'Hello');
});
