import { createHash } from 'node:crypto';
import { Html, html } from '../../base/values/html.ts';
import { pickReaderLanguage } from '../../base/values/reader-language.ts';
import { brandColors, brandRadii } from '../../host/brand/tokens.ts';
import { type GuardedLinkPage, guardedLinkTexts } from './guarded-link-texts.ts';

/** A field of the form; the body of a program that probes the link doesn't have it. */
export const buttonField = 'continue';

const color = (name: keyof typeof brandColors): string =>
  `light-dark(${brandColors[name].join(', ')})`;

/** In the page itself, so that it loads nothing. */
const styles = `:root { color-scheme: light dark; }
* { box-sizing: border-box; }
body { margin: 0; padding: 12vh 1rem 2rem; background: ${color('canvas')}; color: ${color('ink')}; font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
main { max-width: 26rem; margin: auto; padding: 1.75rem; background: ${color('surface')}; border: 1px solid ${color('line')}; border-radius: ${brandRadii.card}px; }
h1 { margin: 0 0 .75rem; font-size: 1.375rem; line-height: 1.25; }
p { margin: 0 0 1rem; }
p:last-child { margin: 0; }
.sender { font-weight: 600; }
.soft { color: ${color('soft')}; font-size: .875rem; }
button { width: 100%; min-height: 2.75rem; margin: .25rem 0 1.25rem; padding: .5rem 1rem; font: inherit; font-weight: 600; color: ${color('onButton')}; background: ${color('button')}; border: 0; border-radius: ${brandRadii.control}px; cursor: pointer; }
button:hover { background: ${color('buttonHover')}; }
:focus-visible { outline: 3px solid ${color('accent')}; outline-offset: 2px; }
`;
const styleHash = createHash('sha256').update(styles).digest('base64');

/**
 * The policy of a page (Content Security Policy Level 3): it loads nothing. That of the page with the button has no form-action,
 * because Chromium applies it to every redirect that follows, and a sign-in link may lead on to another site or into an app.
 */
export function guardedLinkPolicy(page: GuardedLinkPage): string {
  const action = page === 'open' ? '' : "form-action 'none'; ";
  return `default-src 'none'; style-src 'sha256-${styleHash}'; ${action}frame-ancestors 'none'; base-uri 'none'`;
}

/** What a page shows. */
export interface PageFacts {
  /** The first that has texts is the language (BCP 47), separated by commas as in Accept-Language. */
  readonly locales: string;
  /** The name of the account that sent the message. */
  readonly account?: string | undefined;
  /** Of the link's target. */
  readonly host?: string | undefined;
}

/** A page for the reader of a message, without scripts. It posts to its own URL. */
export function guardedLinkPage(page: GuardedLinkPage, facts: PageFacts): string {
  const { locales, account = '', host = '' } = facts;
  const language = pickReaderLanguage(locales);
  const { again, button, unasked, ...texts } = guardedLinkTexts[language];
  const fill = (text: string): string =>
    text.replaceAll(/\{(host|account)\}/g, (_, name) => (name === 'host' ? host : account));
  const title = fill(texts[page]);
  const sender = account && html`<p class="sender">${account}</p>\n`;
  const form = html`<form method="post"><input type="hidden" name="${buttonField}" value="1"><button>${button}</button></form>
<p class="soft">${unasked}</p>\n`;
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${new Html(styles)}</style>
</head>
<body>
<main>
${sender}<h1>${title}</h1>
<p>${fill(texts[`${page}Text`] ?? again)}</p>
${page === 'open' ? form : undefined}</main>
</body>
</html>
`.toString();
}
