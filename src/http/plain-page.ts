import { html } from 'ghtml';

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
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>
body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 15vh auto 0; padding: 0 1rem; color: #1b1b1b; background: #fff }
button { font: inherit; padding: .6rem 1.4rem; border: 0; border-radius: .4rem; background: #1b4fd1; color: #fff; cursor: pointer }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #161616 } }
</style>
</head>
<body>
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
