import type { FailedRequest } from '../api/management.generated.ts';

const bearer = '-H "Authorization: Bearer $SIGNALPOST_API_KEY"';

/** Where a provider's API takes the key; undefined where requests are forms or signed, which take more than a command. */
const credentials: Readonly<Record<string, string | undefined>> = {
  postmark: '-H "X-Postmark-Server-Token: $SIGNALPOST_API_KEY"',
  mailgun: undefined,
  ses: undefined,
};

/** A command like the request, with placeholders for what isn't kept of it: parameters of the path, and the body. */
export function curlOf(
  { method, route }: Pick<FailedRequest, 'method' | 'route'>,
  account: string,
): string | undefined {
  const [, first = ''] = route.split('/');
  const credential = Object.hasOwn(credentials, first) ? credentials[first] : bearer;
  if (credential === undefined || route.endsWith('*')) return undefined;
  const path = route
    .replace(':accountId', account)
    .replaceAll(/:(\w+)/g, (_, name: string) => name.replace(/[A-Z]/g, '_$&').toUpperCase());
  const verb = method === 'HEAD' ? '--head' : `-X ${method}`;
  const lines = [`curl ${verb} "${location.origin}${path}"`, credential];
  if (['POST', 'PUT', 'PATCH'].includes(method))
    lines.push('-H "Content-Type: application/json"', "-d '{}'");
  return lines.join(' \\\n  ');
}
