import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { goodBody } from '../../support/send-client.ts';
import { sendRequest } from '../../support/send-request.ts';
import { metricsHeaders } from '../../support/service-tokens.ts';
import { openSharedShop } from '../../support/test-shop.ts';
import { waitFor } from '../../support/wait-for.ts';

const { service, shop, token, client } = await openSharedShop({ worker: false });
const body = JSON.stringify(goodBody());

async function openSocket(): Promise<Socket> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  return socket;
}

function head(length: number, bearer = token): string {
  return [
    `POST /ete/v1/email/${shop.id}/t-0001 HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${bearer}`,
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    '\r\n',
  ].join('\r\n');
}

async function readStatus(socket: Socket): Promise<string> {
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return chunk.toString('latin1', 9, 12);
}

async function refusedBy(name: string): Promise<number> {
  const { text } = await sendRequest(`${service.url}/metrics`, { headers: metricsHeaders });
  return Number(
    new RegExp(`signalpost_send_refused_total\\{error="${name}"\\} (\\d+)`).exec(text)?.[1] ?? 0,
  );
}

test('a body that arrives byte by byte is accepted, and others do not wait for it', async () => {
  const socket = await openSocket();
  const status = readStatus(socket);
  socket.write(head(Buffer.byteLength(body)));
  for (const byte of Buffer.from(body)) {
    if (!socket.write(Buffer.of(byte))) await once(socket, 'drain');
    if (byte === 0x2c) assert.equal((await client.send()).status, 200);
  }
  assert.equal(await status, '200');
  socket.destroy();
});

test('a stranger is rejected before any byte of the body arrives', async () => {
  const socket = await openSocket();
  const status = readStatus(socket);
  socket.write(head(200 * 1024, 'forged'));
  assert.equal(await status, '401');
  socket.destroy();
});

test('a client that disconnects in the middle of its body is not an internal error', async () => {
  const before = await refusedBy('INTERNAL_ERROR');
  const left = await refusedBy('VALIDATION_FAILED');
  const socket = await openSocket();
  socket.write(`${head(1_000)}{"envelope":`);
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.destroy();
  await waitFor('the refusal', async () => (await refusedBy('VALIDATION_FAILED')) === left + 1);
  assert.equal(await refusedBy('INTERNAL_ERROR'), before);
});

test('pipelined requests on one connection get their responses in order', async () => {
  const socket = await openSocket();
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
  });
  const good = head(Buffer.byteLength(body)) + body;
  socket.write(`${good + head(2)}{}${good}`);
  await waitFor(
    'three answers',
    () => (text.match(/HTTP\/1\.1 /g) ?? []).length === 3 && text.endsWith('}'),
  );
  assert.deepEqual(text.match(/HTTP\/1\.1 (\d+)/g), [
    'HTTP/1.1 200',
    'HTTP/1.1 400',
    'HTTP/1.1 200',
  ]);
  socket.destroy();
});

test('hundreds of idle connections do no harm', async () => {
  const idle = await Promise.all(Array.from({ length: 500 }, openSocket));
  const responses = await Promise.all(Array.from({ length: 50 }, () => client.send()));
  for (const response of responses) assert.equal(response.status, 200);
  for (const socket of idle) socket.destroy();
});
