import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after } from 'node:test';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { TestAuthority } from '../../test/support/test-certificates.ts';

/** How programs reach these hosts. */
export interface ProviderHosts {
  /** Variables that make programs use the proxy and trust its certificate. */
  readonly environment: Readonly<Record<string, string>>;
  /** The file of the authority, for programs that take it otherwise. */
  readonly ca: string;
}

/**
 * Stands in for the DNS and the TLS of host names that a program calls on port 443: an HTTPS proxy that leads all of them to a
 * service, which knows them by `DROP_IN_HOSTS`, and nowhere else.
 */
export async function startProviderHosts(
  serviceUrl: string,
  hosts: readonly string[],
): Promise<ProviderHosts> {
  const authority = new TestAuthority();
  const ca = join(temporaryFolder(), 'ca.pem');
  writeFileSync(ca, authority.ca);
  const site = createTlsServer(authority.issue(hosts), (incoming, response) => {
    const { method = 'GET', url = '/', headers } = incoming;
    const outgoing = request(serviceUrl + url, { method, headers });
    outgoing.on('response', (given) => {
      response.writeHead(given.statusCode ?? 502, given.headers);
      given.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    incoming.pipe(outgoing);
  });
  const proxy = createServer((_, response) => response.writeHead(403).end());
  proxy.on('connect', ({ url = '' }, socket) => {
    if (!hosts.some((host) => url === `${host}:443`))
      return socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    socket.write('HTTP/1.1 200 Connected\r\n\r\n');
    return site.emit('connection', socket);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  after(() => {
    site.closeAllConnections();
    proxy.closeAllConnections();
    proxy.close();
  });
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return {
    ca,
    environment: {
      HTTPS_PROXY: url,
      https_proxy: url,
      NODE_USE_ENV_PROXY: '1',
      NODE_EXTRA_CA_CERTS: ca,
      REQUESTS_CA_BUNDLE: ca,
    },
  };
}
