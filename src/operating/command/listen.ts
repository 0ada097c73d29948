import cluster from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { App } from '../../app.ts';
import { codeOf } from '../../base/database/sqlstate.ts';
import { OperatorError } from '../../base/values/errors.ts';
import type { Http } from '../../host/http/create-http.ts';
import { canListenShared, listenBacklog, listenShared } from '../../host/http/listen-shared.ts';
import type { Config } from '../config/config.ts';

/** An address to listen on, and the settings that define it. */
interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly hostName: string;
  readonly portName: string;
}

const errorMessages: Readonly<Record<string, (listenAddress: ListenAddress) => string>> = {
  EADDRINUSE: ({ host, port, portName }) =>
    `Port ${port} on ${host} is already in use; set ${portName} to another port, or to 0 for any free one.`,
  EACCES: ({ port, portName }) =>
    `This user can’t listen on port ${port}; set ${portName} to 1024 or higher.`,
  EADDRNOTAVAIL: ({ host, hostName }) =>
    `${hostName} ${host} is not an address of this machine; set ${hostName} to one that is, or to 0.0.0.0 for all.`,
  ENOTFOUND: ({ host, hostName }) =>
    `${hostName} ${host} can’t be resolved; set ${hostName} to an address of this machine.`,
};

/**
 * Starts background work, including the SMTP servers for bounces and submission.
 * @throws OperatorError if one of their ports or addresses is not available
 */
export async function startApp(app: Pick<App, 'start'>, config: Config): Promise<void> {
  try {
    await app.start();
  } catch (cause) {
    const { port, hostname } = cause as { readonly port?: unknown; readonly hostname?: unknown };
    const failed = smtpAddresses(config).find((address) =>
      port === undefined ? address.host === hostname : address.port === port,
    );
    throw failed === undefined ? cause : listenProblem(cause, failed);
  }
}

function smtpAddresses({ bounceServer, smtpSubmission }: Config): ListenAddress[] {
  const { host = '', port, tlsPort } = smtpSubmission ?? {};
  const [hostName, bounceName] = ['SUBMISSION_HOST', 'BOUNCE_HOST'];
  return [
    ...(bounceServer === undefined
      ? []
      : [{ ...bounceServer, hostName: bounceName, portName: 'BOUNCE_PORT' }]),
    ...(port === undefined ? [] : [{ host, port, hostName, portName: 'SUBMISSION_PORT' }]),
    ...(tlsPort === undefined
      ? []
      : [{ host, port: tlsPort, hostName, portName: 'SUBMISSION_TLS_PORT' }]),
  ];
}

/**
 * Checks that a port is free before processes share it, because sharing would hide that another program uses it.
 * @returns PORT, or a free one if it is 0
 * @throws OperatorError if the port or the address is not available
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
 * Listens on HOST and PORT, or on the service manager's socket; the processes of a node share one port.
 * @param socket from `inheritedSocket`
 * @returns the local URL of the service, with the actual port
 * @throws OperatorError if the port or the address is not available
 */
export async function listen(
  http: Http,
  { host, port, tls }: Config,
  socket?: number,
): Promise<string> {
  try {
    if (socket !== undefined) await listenInherited(http, socket);
    else if (cluster.isWorker && canListenShared) await listenShared(http, host, port);
    else await http.listen({ host, port, backlog: listenBacklog });
  } catch (cause) {
    throw listenProblem(cause, { host, port, hostName: 'HOST', portName: 'PORT' });
  }
  const bound = http.server.address() as AddressInfo;
  return localUrl({ host: socket === undefined ? host : bound.address, port: bound.port, tls });
}

/** @throws OperatorError if the descriptor is no listening TCP socket */
async function listenInherited(http: Http, fd: number): Promise<void> {
  const options = { fd, host: '127.0.0.1' };
  const cause: unknown = await http.listen(options).then(
    () => undefined,
    (error) => error,
  );
  if (cause === undefined && typeof http.server.address() !== 'string') return;
  throw new OperatorError('The socket unit must pass a TCP socket: ListenStream=127.0.0.1:3000.', {
    cause,
  });
}

/** The URL at which this machine reaches a service on a host and port. */
export function localUrl({ host, port, tls }: Pick<Config, 'host' | 'port' | 'tls'>): string {
  return `${tls === undefined ? 'http' : 'https'}://${hostForUrl(host)}:${port}`;
}

/** Translates an operating system error for the operator; other errors are returned unchanged. */
function listenProblem(cause: unknown, listenAddress: ListenAddress): unknown {
  const { syscall } = cause as { readonly syscall?: unknown };
  const message = errorMessages[codeOf(cause) ?? ''];
  if (message === undefined || (syscall !== 'listen' && syscall !== 'getaddrinfo')) return cause;
  return new OperatorError(message(listenAddress), { cause });
}

/** The loopback address for a wildcard; IPv6 addresses in brackets (RFC 3986 section 3.2.2). */
function hostForUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
