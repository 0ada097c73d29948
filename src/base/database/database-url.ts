import { OperatorError } from '../values/errors.ts';

/** Scheme, user and password, hosts, the rest. */
const urlPattern = /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#@]*)(.*)$/is;

/** Values of target_session_attrs for a server that accepts writes. */
const writable = new Set(['read-write', 'primary']);

/**
 * Splits a database URL with several hosts into a URL for each, in the forms that libpq accepts:
 * `postgres://user:password@host1:5432,host2/name` and `postgres:///name?host=host1,host2`.
 * @throws OperatorError if it isn't a database URL
 */
export function splitDatabaseUrl(text: string): string[] {
  const [, scheme, user, hosts, rest] = urlPattern.exec(text) ?? [];
  if (hosts === undefined) throw invalidUrl();
  return hosts.split(',').flatMap((host) => splitParameters(`${scheme}${user}${host}${rest}`));
}

function splitParameters(text: string): string[] {
  const url = URL.parse(text);
  if (url === null) throw invalidUrl();
  const wanted = url.searchParams.get('target_session_attrs');
  if (wanted !== null && !writable.has(wanted))
    throw new OperatorError(
      'DATABASE_URL must have target_session_attrs=read-write, or none: Signalpost writes to its database.',
    );
  url.searchParams.delete('target_session_attrs');
  const hosts = url.searchParams.get('host')?.split(',') ?? [];
  if (hosts.length < 2) return [wanted === null ? text : url.href];
  const ports = url.searchParams.get('port')?.split(',') ?? [];
  if (ports.length > 1 && ports.length !== hosts.length)
    throw new OperatorError('DATABASE_URL must have one port for all hosts, or one for each.');
  return hosts.map((host, index) => {
    const single = new URL(url);
    single.searchParams.set('host', host);
    const port = ports[index] ?? ports[0];
    if (port !== undefined) single.searchParams.set('port', port);
    return single.href;
  });
}

function invalidUrl(): OperatorError {
  return new OperatorError('DATABASE_URL must look like postgres://user:password@host:5432/name.');
}
