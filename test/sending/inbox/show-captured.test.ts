import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCapturedFileJob, showCapturedJob } from '../../../src/sending/inbox/show-captured.ts';

const pixel = Buffer.from('\x89PNG\r\n\x1a\n and a picture', 'latin1');
const drawing = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

interface Image {
  readonly id: string;
  readonly type: string;
  readonly content: Buffer;
}

function messageOf(html: string, images: readonly Image[]): Buffer {
  const parts = images.map(
    ({ id, type, content }) =>
      `--b\r\nContent-Type: ${type}\r\nContent-ID: <${id}>\r\nContent-Transfer-Encoding: base64\r\n\r\n${content.toString('base64')}\r\n`,
  );
  return Buffer.from(
    `Content-Type: multipart/related; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n${html}\r\n${parts.join('')}--b--\r\n`,
  );
}

/** The HTML of a message with these images, as it is shown. */
function show(html: string, images: readonly Image[]): string {
  return showCapturedJob({ html, source: messageOf(html, images) }).html ?? '';
}

test('the inline images of a message are shown, but no drawings that could contain scripts', () => {
  const html = `<p style="background: url('cid:a@b')">Hello</p><img src="cid:a%40b"><img src="cid:draw"><img src="cid:none">`;
  const shown = show(html, [
    { id: 'a@b', type: 'image/png', content: pixel },
    { id: 'draw', type: 'image/svg+xml', content: Buffer.from(drawing) },
  ]);
  const url = `data:image/png;base64,${pixel.toString('base64')}`;
  assert.equal(shown.split(url).length, 3);
  assert.match(shown, /src="cid:draw"/);
  assert.match(shown, /src="cid:none"/);
  assert.doesNotMatch(shown, /svg/);
});

test('HTML that repeats a large image is not shown with more than 32 MiB of images', () => {
  const content = Buffer.concat([pixel, Buffer.alloc(3 * 1_024 * 1_024)]);
  const shown = show('<img src="cid:a">'.repeat(1_000), [{ id: 'a', type: 'image/png', content }]);
  assert.equal(shown.split('data:image/png').length - 1, 7);
  assert.equal(shown.split('cid:a').length - 1, 993);
});

test('a file of a message is read by its place', () => {
  const source = messageOf('<p>Hello</p>', [
    { id: 'a', type: 'image/png', content: pixel },
    { id: 'b', type: 'image/svg+xml', content: Buffer.from(drawing) },
  ]);
  assert.deepEqual(readCapturedFileJob({ source, place: 1 })?.content, pixel);
  assert.deepEqual(readCapturedFileJob({ source, place: 2 })?.content, Buffer.from(drawing));
  assert.equal(readCapturedFileJob({ source, place: 3 }), undefined);
});
