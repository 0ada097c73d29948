import { OperatorError } from '../../foundation/errors.ts';

/** A NATS server, or several of a cluster. */
export interface NatsTarget {
  /** `host:port` of each. */
  readonly servers: readonly string[];
  readonly tls: boolean;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly token: string | undefined;
}

const defaultPort = '4222';

/**
 * Reads NATS_URL.
 * @param text `nats://` or `tls://`, a user with a password or a token, and one or several hosts separated by commas
 * @throws OperatorError
 */
export function parseNatsUrl(text: string): NatsTarget {
  const [, scheme, credentials, hosts] =
    /^(nats|tls):\/\/(?:([^@/]*)@)?([^@/?#]+)\/?$/.exec(text) ?? [];
  const servers = hosts?.split(',').map((host) => URL.parse(`nats://${host}`));
  if (scheme === undefined || servers?.every((server) => server?.hostname) !== true)
    throw new OperatorError(
      'NATS_URL must be nats://host:port or tls://host:port, with user:password@ or token@ before the host if the server requires them.',
    );
  const [user, password] = (credentials ?? '').split(':').map(decode);
  return {
    servers: servers.map((server) => `${server?.hostname}:${server?.port || defaultPort}`),
    tls: scheme === 'tls',
    user: password === undefined ? undefined : user,
    password,
    token: password === undefined && user !== '' ? user : undefined,
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (cause) {
    throw new OperatorError('NATS_URL contains a literal %. Write it as %25.', { cause });
  }
}
