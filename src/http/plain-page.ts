import { html } from 'ghtml';
import { pageHead, pageSources } from '../brand/brand-files.ts';

/** The policy of a plain page. */
export const plainPagePolicy = `${pageSources}; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;

/**
 * A page without scripts for someone who followed a link: a message and at most one button.
 * @param button posts to `action`, or to the page's own URL
 */
export function plainPage(
  title: string,
  text: string,
  button?: { readonly label: string; readonly action?: string },
): string {
  return html`<!doctype html>
<html lang="en">
<head>
!${pageHead}
<title>${title}</title>
</head>
<body>
<header></header>
<main>
<h1>${title}</h1>
<p>${text}</p>
!${button === undefined ? '' : form(button)}
</main>
</body>
</html>
`;
}

function form({ label, action }: { readonly label: string; readonly action?: string }): string {
  return action === undefined
    ? html`<form method="post"><button>${label}</button></form>`
    : html`<form method="post" action="${action}"><button>${label}</button></form>`;
}
