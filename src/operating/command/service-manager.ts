import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { OperatorError } from '../../base/values/errors.ts';
import type { Log } from '../../base/values/log.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The first descriptor that a service manager passes: SD_LISTEN_FDS_START in sd_listen_fds(3). */
const firstDescriptor = 3;

/** Names the descriptor for the processes of a node, whose ids the service manager can't know. */
const descriptorVariable = 'SIGNALPOST_HTTP_SOCKET';

/**
 * The listening socket that the service manager opened for HTTP and keeps open across restarts, so that connections wait
 * instead of being refused: sd_listen_fds(3).
 * @returns its file descriptor; undefined without one, or if it is meant for another process
 * @throws OperatorError for several sockets
 */
export function inheritedSocket(environment: Environment, pid = process.pid): number | undefined {
  const own = environment[descriptorVariable];
  if (own !== undefined) return Number(own);
  const { LISTEN_PID, LISTEN_FDS } = environment;
  if (LISTEN_FDS === undefined || Number(LISTEN_PID) !== pid) return undefined;
  const count = Number(LISTEN_FDS);
  if (count === 1) return firstDescriptor;
  throw new OperatorError(
    `The socket unit passes ${LISTEN_FDS} sockets, but Signalpost takes one: keep a single ListenStream.`,
  );
}

/** The variables of a process that gets the first process's descriptor through the channel between them. */
export function passSocket(descriptor: number): Record<string, string> {
  return { [descriptorVariable]: String(descriptor) };
}

/**
 * Tells the service manager about the service's state, as a unit with `Type=notify` expects: sd_notify(3). Node has no
 * datagram sockets in the file system, so this runs `systemd-notify`; the unit needs `NotifyAccess=all`.
 */
export async function notifyServiceManager(
  environment: Environment,
  state: 'READY=1' | 'STOPPING=1',
  log: Log,
): Promise<void> {
  if (environment.NOTIFY_SOCKET === undefined) return;
  const { PATH, NOTIFY_SOCKET } = environment;
  await promisify(execFile)('systemd-notify', ['--no-block', state], {
    env: { PATH, NOTIFY_SOCKET },
    timeout: 5_000,
  }).catch((error: unknown) =>
    log.error({ err: error, state }, 'the service manager could not be told about the state'),
  );
}
