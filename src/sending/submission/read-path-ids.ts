import { escapeMalformedPercent } from '../../host/http/request-path.ts';

/** Path prefix of the send operation and the batch. */
export const sendPrefix = '/ete/v1/email/';

/**
 * Ids from the path; both empty if either is empty or contains a slash. A trailing slash is ignored.
 * @param suffix what follows the ids
 */
export function readPathIds(
  target: string,
  suffix?: 'batch',
): readonly [accountText: string, templateText: string] {
  const parts = idsOf(target);
  if (parts.length > 2 && parts.at(-1) === '') parts.pop();
  if (suffix !== undefined) parts.pop();
  const [account = '', template = ''] = parts;
  if (parts.length !== 2 || account === '' || template === '') return ['', ''];
  return [decode(account), decode(template)];
}

/** The account ID of a path that ends with it; empty if it doesn't. */
export function readPathAccount(target: string): string {
  const [account = '', ...rest] = idsOf(target);
  return rest.length === 0 ? decode(account) : '';
}

function idsOf(target: string): string[] {
  const query = target.indexOf('?');
  const path = query === -1 ? target : target.slice(0, query);
  const ids = path.startsWith(sendPrefix) ? path.slice(sendPrefix.length) : afterPrefix(path);
  return ids.split('/');
}

/**
 * Handles targets in absolute form (RFC 9112 section 3.2.2) or with a differently encoded prefix (RFC 3986 section
 * 6.2.2.2).
 */
function afterPrefix(path: string): string {
  const local = path.replace(/^[a-z][a-z\d+.-]*:\/\/[^/]*/i, '');
  return local
    .split('/')
    .slice(sendPrefix.split('/').length - 1)
    .join('/');
}

function decode(text: string): string {
  return text.includes('%') ? decodeURIComponent(escapeMalformedPercent(text)) : text;
}
