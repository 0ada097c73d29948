import type { AddressInfo } from 'node:net';
import type { Config } from '../config.ts';
import { codeOf } from '../foundation/database/sqlstate.ts';
import { OperatorError } from '../foundation/errors.ts';
import type { Http } from '../http/create-http.ts';

const sentences: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (host, port) =>
    `Port ${port} on ${host} is taken by another program; set PORT to another one, or to 0 for a free one.`,
  EACCES: (_host, port) =>
    `This user may not listen on port ${port}; set PORT to one from 1024 up.`,
  EADDRNOTAVAIL: (host) =>
    `HOST ${host} is no address of this machine; set HOST to one that is, or to 0.0.0.0 for all.`,
  ENOTFOUND: (host) => `HOST ${host} is not a known name; set HOST to an address of this machine.`,
};

/**
 * Listens on HOST and PORT.
 * @returns the address at which this machine reaches the service, with the port that was taken
 * @throws OperatorError where the port or the address cannot be had
 */
export async function listen(http: Http, config: Config): Promise<string> {
  try {
    await http.listen({ host: config.host, port: config.port });
  } catch (cause) {
    const sentence = sentences[codeOf(cause) ?? ''];
    if (sentence === undefined) throw cause;
    throw new OperatorError(sentence(config.host, config.port), { cause });
  }
  const { port } = http.server.address() as AddressInfo;
  return `http://${hostForUrl(config.host)}:${port}`;
}

/** A wildcard address is reached by the loopback; an IPv6 address stands in brackets (RFC 3986 section 3.2.2). */
function hostForUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
