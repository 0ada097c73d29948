import { html } from '../../foundation/html.ts';
import { endSessionsPath } from '../../outbox/mailed-links.ts';
import type { Page } from './layout.ts';
import { messagePage } from './message-page.ts';

/** Asks before ending all sessions. */
export function endSessionsPage(token: string): Page {
  const title = 'Sign out everywhere?';
  const body = html`<h1>${title}</h1>
<p>This ends all your sessions, and apps lose access. If someone knows your password, set a new one afterward.</p>
<form method="post" action="${endSessionsPath}/${token}">
<div class="actions"><button type="submit">Sign out everywhere</button></div>
</form>`;
  return { title, body };
}

/** For a link that isn't valid. */
export const invalidEndSessionsPage: Page = messagePage(
  'Link expired',
  'The link works for 7 days. Sign in to end your sessions.',
  404,
  { href: '/me', label: 'Sign-in and security' },
);
