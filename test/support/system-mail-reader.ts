import assert from 'node:assert/strict';
import { readInbox } from './inbox-client.ts';
import { waitFor } from './wait-for.ts';

/** Waits for mail to an address whose subject matches; returns the newest. */
export async function systemMailTo(
  serviceUrl: string,
  email: string,
  subject: RegExp,
): Promise<{ readonly subject: string; readonly text: string; readonly html: string }> {
  const mail = await waitFor(`a mail to ${email} with ${subject}`, async () =>
    (await readInbox(serviceUrl, `?to=${encodeURIComponent(email)}`)).find((candidate) =>
      subject.test(candidate.subject),
    ),
  );
  return { subject: mail.subject, text: mail.text ?? '', html: mail.html ?? '' };
}

/** The link in a mail that leads to a path. */
export function linkIn(mail: { readonly html: string }, path: string): string {
  const link = new RegExp(`href="(http[^"]+/${path}/[A-Za-z0-9_-]+)"`).exec(mail.html)?.[1];
  assert.ok(link, `no link to /${path} in ${mail.html}`);
  return link;
}
