import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { type RawBody, readBody } from '../../../src/host/http/read-body.ts';

const maxBytes = 2_048;
const read: ((body: RawBody) => void)[] = [];
const server = createServer(async (request, response) => {
  const body = await readBody(request, maxBytes);
  read.shift()?.(body);
  response.end();
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => server.close());

async function send(head: readonly string[], write?: (socket: Socket) => void): Promise<string> {
  const body = new Promise<RawBody>((resolve) => read.push(resolve));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(`${['POST / HTTP/1.1', 'Host: x', ...head].join('\r\n')}\r\n\r\n`);
  write?.(socket);
  const found = await body;
  socket.destroy();
  return 'unusable' in found ? found.unusable : found.toString();
}

const incomplete = 'the body was not sent completely';
const tooLarge = 'the body is larger than 2 KiB';

test('a body is complete once it has the announced length', async () => {
  assert.equal(await send(['Content-Length: 4'], (socket) => socket.write('four')), 'four');
});

test('a chunked body is assembled from its chunks and complete with the last one', async () => {
  const text = await send(['Transfer-Encoding: chunked'], (socket) =>
    socket.write('2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n'),
  );
  assert.equal(text, 'abcde');
});

test('a missing body and an empty one are both empty', async () => {
  assert.equal(await send([]), '');
  assert.equal(await send(['Content-Length: 0']), '');
  assert.equal(
    await send(['Transfer-Encoding: chunked'], (socket) => socket.write('0\r\n\r\n')),
    '',
  );
});

test('a body can have the maximum size and not one byte more, with or without an announced length', async () => {
  const largest = 'x'.repeat(maxBytes);
  const withLength = (text: string) =>
    send([`Content-Length: ${text.length}`], (socket) => socket.write(text));
  const chunked = (text: string) =>
    send(['Transfer-Encoding: chunked'], (socket) =>
      socket.write(`${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`),
    );
  for (const sendBody of [withLength, chunked]) {
    assert.equal(await sendBody(largest), largest);
    assert.equal(await sendBody(`${largest}x`), tooLarge);
  }
});

test('a body announced as too large is rejected before it arrives', async () => {
  assert.equal(await send([`Content-Length: ${maxBytes + 1}`]), tooLarge);
});

test('a body whose client disconnects midway is incomplete', async () => {
  const leave = (socket: Socket) => void socket.write('ab', () => socket.destroy());
  assert.equal(await send(['Content-Length: 4'], leave), incomplete);
  assert.equal(
    await send(['Transfer-Encoding: chunked'], (socket) => {
      socket.write('2\r\nab\r\n', () => socket.destroy());
    }),
    incomplete,
  );
});
