import { Html, html } from '../../../base/values/html.ts';
import { brandHead } from '../../../host/brand/brand-files.ts';
import { brandMark } from '../../../host/brand/tokens.ts';
import type { AssetUrls } from '../read-assets.ts';

/** An error page that reveals nothing about the inbox. */
export function renderProblem(assets: AssetUrls, status: number, message: string): string {
  const page = html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${titleOf(status)} · Signalpost</title>
    ${new Html(brandHead)}
    <link rel="stylesheet" href="${assets.style}">
  </head>
  <body class="problem">
    <main class="welcome">
      ${new Html(brandMark)}
      <h1>${titleOf(status)}</h1>
      ${status === 401 ? renderAccessHelp() : renderMessage(message)}
    </main>
  </body>
</html>
`;
  return page.toString();
}

function renderMessage(message: string): Html {
  return html`<p>${message}</p>
      <p><a class="button" href="/inbox">Go to inbox</a></p>`;
}

/** Explains how to get access, also after an expired link. */
function renderAccessHelp(): Html {
  return html`<p>The inbox can contain password reset links, so it’s protected. Open the one-time link the service printed when it started. To get a new one, run this on the server:</p>
      <pre class="command" tabindex="0"><code>bin/signalpost inbox-link</code></pre>
      <p>Operators can sign in instead.</p>
      <p><a class="button" href="/sign-in?next=%2Finbox">Sign in</a></p>
      <h2>From a script</h2>
      <p>Send the service’s <code>INBOX_TOKEN</code>. If you didn’t set one, it’s in <code>demo.env</code> in the data folder.</p>
      <pre class="command" tabindex="0"><code>curl -H "Authorization: Bearer $INBOX_TOKEN" …/inbox/api/messages</code></pre>`;
}

function titleOf(status: number): string {
  if (status === 401) return 'The inbox is locked';
  if (status === 403) return 'Not allowed';
  if (status === 404) return 'Page not found';
  return status === 503 ? 'Temporarily unavailable' : 'Something went wrong';
}
