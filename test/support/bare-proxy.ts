import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';

/**
 * A reverse proxy like nginx with a bare `proxy_pass`: it connects from the loopback with the service's own Host and
 * doesn't forward the client's address.
 * @returns its address, which plays the part of the public one
 */
export async function startBareProxy(serviceUrl: string): Promise<string> {
  const { host } = new URL(serviceUrl);
  const proxy = createServer((incoming, response) => {
    const { method = 'GET', url = '/', headers } = incoming;
    const outgoing = request(serviceUrl + url, { method, headers: { ...headers, host } });
    outgoing.on('response', (given) => {
      response.writeHead(given.statusCode ?? 502, given.headers);
      given.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    incoming.pipe(outgoing);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  after(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}
