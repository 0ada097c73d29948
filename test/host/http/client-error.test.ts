import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { after, test } from 'node:test';
import { createLog } from '../../../src/base/values/log.ts';
import { createHttp } from '../../../src/host/http/create-http.ts';
import { testRoute } from '../../support/test-route.ts';

const routes = [testRoute('POST', '/x')];

const http = createHttp({ log: createLog('silent'), trustProxy: [], routes });
http.post('/x', () => 'x');
await http.listen({ host: '127.0.0.1', port: 0 });
after(() => http.close());
const { port } = http.server.address() as AddressInfo;

/** Sends these lines and returns the response once the connection ends. */
async function sendLines(...lines: string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

test('a malformed request gets an error with a reason and a request id, and the connection closes', async () => {
  for (const [lines, status, message] of [
    [['Hello'], 400, /Malformed HTTP request: Invalid method/],
    [
      ['POST /x HTTP/1.1', 'Host: x', 'Content-Length: 1', 'Transfer-Encoding: chunked'],
      400,
      /Malformed HTTP request: .*Content-Length|Transfer-Encoding/,
    ],
    [['POST /x HTTP/1.1', 'Host: x', `X: ${'x'.repeat(20_000)}`], 431, /larger than 16 KiB/],
  ] as const) {
    const [head = '', body = ''] = (await sendLines(...lines)).split('\r\n\r\n');
    assert.match(head, new RegExp(`^HTTP/1.1 ${status} .*X-Request-Id: .*Connection: close`, 's'));
    const response: { status: number; message: string; requestId: string } = JSON.parse(body);
    assert.equal(response.status, status);
    assert.match(response.message, message);
    assert.ok(head.includes(response.requestId));
  }
});
