import cluster from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import { codeOf } from '../foundation/database/sqlstate.ts';
import { OperatorError } from '../foundation/errors.ts';
import type { Http } from '../http/create-http.ts';
import { canListenShared, listenShared } from '../http/listen-shared.ts';

/** A place to listen at, and the settings that name it. */
interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly hostName: string;
  readonly portName: string;
}

const errorMessages: Readonly<Record<string, (listenAddress: ListenAddress) => string>> = {
  EADDRINUSE: ({ host, port, portName }) =>
    `Port ${port} on ${host} is taken by another program; set ${portName} to another one, or to 0 for a free one.`,
  EACCES: ({ port, portName }) =>
    `This user may not listen on port ${port}; set ${portName} to one from 1024 up.`,
  EADDRNOTAVAIL: ({ host, hostName }) =>
    `${hostName} ${host} is no address of this machine; set ${hostName} to one that is, or to 0.0.0.0 for all.`,
  ENOTFOUND: ({ host, hostName }) =>
    `${hostName} ${host} is not a known name; set ${hostName} to an address of this machine.`,
};

/**
 * Starts what works in the background, the server for reports among it.
 * @throws OperatorError where BOUNCE_PORT or BOUNCE_HOST cannot be had
 */
export async function startApp(app: Pick<App, 'start'>, { bounceServer }: Config): Promise<void> {
  try {
    await app.start();
  } catch (cause) {
    if (bounceServer === undefined) throw cause;
    throw listenProblem(cause, {
      ...bounceServer,
      hostName: 'BOUNCE_HOST',
      portName: 'BOUNCE_PORT',
    });
  }
}

/**
 * Takes a port for processes that will share it, and gives it back: sharing it would hide that another program has it.
 * @returns PORT, or a free one where it is 0
 * @throws OperatorError where the port or the address cannot be had
 */
export async function choosePort({ host, port }: Pick<Config, 'host' | 'port'>): Promise<number> {
  const server = createServer();
  try {
    await once(server.listen(port, host), 'listening');
  } catch (cause) {
    throw listenProblem(cause, { host, port, hostName: 'HOST', portName: 'PORT' });
  }
  const { port: bound } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return bound;
}

/**
 * Listens on HOST and PORT; several processes of a node on one port.
 * @returns the address at which this machine reaches the service, with the port that was taken
 * @throws OperatorError where the port or the address cannot be had
 */
export async function listen(http: Http, { host, port }: Config): Promise<string> {
  try {
    if (cluster.isWorker && canListenShared) await listenShared(http, host, port);
    else await http.listen({ host, port });
  } catch (cause) {
    throw listenProblem(cause, { host, port, hostName: 'HOST', portName: 'PORT' });
  }
  const bound = http.server.address() as AddressInfo;
  return localUrl(host, bound.port);
}

/** The address at which this machine reaches a service that listens on a host and port. */
export function localUrl(host: string, port: number): string {
  return `http://${hostForUrl(host)}:${port}`;
}

/** What an error of the operating system means to the operator; other errors as they are. */
function listenProblem(cause: unknown, listenAddress: ListenAddress): unknown {
  const { syscall } = cause as { readonly syscall?: unknown };
  const message = errorMessages[codeOf(cause) ?? ''];
  if (message === undefined || (syscall !== 'listen' && syscall !== 'getaddrinfo')) return cause;
  return new OperatorError(message(listenAddress), { cause });
}

/** A wildcard address is reached by the loopback; an IPv6 address stands in brackets (RFC 3986 section 3.2.2). */
function hostForUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
