import { Html, html } from '../../base/values/html.ts';
import { pageHead, pageSources } from '../brand/brand-files.ts';

/** The policy of a plain page. */
export const plainPagePolicy = `${pageSources}; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;

interface PlainButton {
  readonly label: string;
  readonly action?: string;
  /** Sent with the form. */
  readonly field?: string;
}

interface PlainLink {
  readonly label: string;
  readonly href: string;
}

/**
 * A page without scripts for someone who followed a link: a message and at most one link or button.
 * @param wayOn a link, or a button that posts to `action` or the page's own URL
 */
export function plainPage(title: string, text: string, wayOn?: PlainButton | PlainLink): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
${new Html(pageHead)}
<title>${title}</title>
</head>
<body>
<header></header>
<main>
<h1>${title}</h1>
<p>${text}</p>
${wayOn === undefined ? '' : 'href' in wayOn ? link(wayOn) : form(wayOn)}
</main>
</body>
</html>
`;
  return page.toString();
}

function link({ label, href }: PlainLink): Html {
  return html`<p class="actions"><a class="button" href="${href}">${label}</a></p>`;
}

function form({ label, action, field }: PlainButton): Html {
  const hidden = field === undefined ? '' : html`<input type="hidden" name="${field}" value="1">`;
  return action === undefined
    ? html`<form method="post">${hidden}<button>${label}</button></form>`
    : html`<form method="post" action="${action}">${hidden}<button>${label}</button></form>`;
}
