import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../src/base/values/log.ts';
import { createHttp } from '../../src/host/http/create-http.ts';
import { logIntoLines } from '../support/log-into-lines.ts';
import { testRoute } from '../support/test-route.ts';

/** What the service takes for the client's address and its narrowest network. */
async function clientOf(
  trustProxy: readonly string[],
  forwarded: string,
  log = createLog('silent'),
) {
  const http = createHttp({ log, trustProxy, routes: [testRoute('GET', '/who')] });
  http.get('/who', async (request) => ({
    address: request.ip,
    network: http.peers.networksOf(request.raw)[0],
  }));
  const headers = { 'x-forwarded-for': forwarded };
  // The header is read as soon as a connection brings a request.
  await http.listen({ host: '127.0.0.1', port: 0 });
  try {
    const { port } = http.server.address() as { port: number };
    const url = `http://127.0.0.1:${port}/who`;
    const response = await fetch(url, { headers });
    const second = await fetch(url, { headers });
    await second.arrayBuffer();
    return { ...((await response.json()) as object), unread: http.peers.unread };
  } finally {
    await http.close();
  }
}

for (const [forwarded, address, network = address] of [
  ['203.0.113.8', '203.0.113.8'],
  ['203.0.113.8:50000', '203.0.113.8'],
  [' 203.0.113.8:50001 ', '203.0.113.8'],
  ['::ffff:203.0.113.8', '203.0.113.8'],
  ['2001:db8::1', '2001:db8::1', '2001:db8:0:0::/64'],
  ['[2001:db8::1]', '2001:db8::1', '2001:db8:0:0::/64'],
  ['[2001:db8::1]:443', '2001:db8::1', '2001:db8:0:0::/64'],
  ['198.51.100.9, 203.0.113.8:50000, 127.0.0.9', '203.0.113.8'],
  ['203.0.113.8, unknown', '127.0.0.1'],
  ['_hidden', '127.0.0.1'],
  ['203.0.113.8:50000x', '127.0.0.1'],
  ['', '127.0.0.1'],
] as const)
  test(`ASVS 4.0.3 11.1.4: X-Forwarded-For: “${forwarded}” of a trusted proxy is ${address}, whatever its port`, async () => {
    const seen = await clientOf(['127.0.0.0/8'], forwarded);
    assert.deepEqual(seen, { address, network, unread: 0 });
  });

test('X-Forwarded-For of a proxy that is not trusted counts for nothing, is counted, and is logged once', async () => {
  const { log, lines } = logIntoLines('warn');
  const seen = await clientOf(['192.0.2.1'], '203.0.113.8', log);
  assert.deepEqual(seen, { address: '127.0.0.1', network: '127.0.0.1', unread: 2 });
  assert.equal(lines.filter((line) => JSON.stringify(line).includes('TRUST_PROXY')).length, 1);
});
