import { html } from 'ghtml';
import type { AssetUrls } from '../read-assets.ts';
import { icon } from './icons.ts';

/** A page that says what cannot be done, and nothing about the inbox. */
export function renderProblem(assets: AssetUrls, status: number, message: string): string {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${titleOf(status)} · Signalpost</title>
    <link rel="icon" href="${assets.icon}" type="image/svg+xml">
    <link rel="stylesheet" href="${assets.style}">
  </head>
  <body class="problem">
    <main class="welcome">
      <span class="welcome-mark">!${icon('flag')}</span>
      <h1>${titleOf(status)}</h1>
      <p>${message}</p>
      <p><a class="button" href="/inbox">To the inbox</a></p>
    </main>
  </body>
</html>
`;
}

function titleOf(status: number): string {
  if (status === 403) return 'Not from here';
  if (status === 404) return 'Not here';
  return status === 503 ? 'Not just now' : 'That went wrong';
}
