import assert from 'node:assert/strict';
import { createOneTimeLink } from '../../src/accounts/sign-in/one-time-link.ts';
import type { Database } from '../../src/base/database/open-database.ts';
import { sendRequest } from './send-request.ts';
import { inboxHeaders } from './service-tokens.ts';

/** A message as the inbox API returns it. */
export interface CapturedMail {
  readonly id: string;
  readonly receivedAt: string;
  readonly envelopeFrom: string;
  readonly envelopeTo: readonly string[];
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
  readonly unread: boolean;
  readonly source: string;
}

/** The messages in a service's inbox that match a query such as `?to=a@b.test&wait=10`. */
export async function readInbox(
  serviceUrl: string,
  query = '',
  headers: Readonly<Record<string, string>> = inboxHeaders,
): Promise<CapturedMail[]> {
  const { status, text } = await sendRequest(`${serviceUrl}/inbox/api/messages${query}`, {
    headers,
  });
  assert.equal(status, 200, text);
  return JSON.parse(text) as CapturedMail[];
}

/** Deletes everything in a service's inbox. */
export async function clearInbox(serviceUrl: string): Promise<void> {
  const { status } = await sendRequest(`${serviceUrl}/inbox/api/messages`, {
    method: 'DELETE',
    headers: inboxHeaders,
  });
  assert.equal(status, 204);
}

/** The cookie that a browser gets by a one-time link to the inbox. */
export async function openInboxLink(
  database: Database,
  service: { readonly url: string },
): Promise<string> {
  const { headers } = await sendRequest(await createOneTimeLink(database, 'inbox', service.url));
  const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
  assert.match(cookie, /^signalpost-inbox=./);
  return cookie;
}
