import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  type BrandColor,
  brandColors,
  brandFont,
  brandIcon,
  brandRadii,
  monospaceFont,
} from './tokens.ts';

/** The characters in each file of the font; others come from the system's fonts. */
const latinRange =
  'U+0000-00FF,U+0152-0153,U+0160-0161,U+0178,U+017D-017E,U+2013-2014,U+2018-201A,U+201C-201E,U+2022,U+2026,U+2039-203A,U+20AC,U+2122,U+2190-2193,U+2212,U+2264-2265';
const latinExtendedRange =
  'U+0100-0151,U+0154-015F,U+0162-0177,U+0179-017C,U+017F-024F,U+1E00-1E9F';

/** The style sheet that all pages share: the font and the tokens as custom properties, and nothing else. */
export function brandStyles(fonts: {
  readonly latin: string;
  readonly latinExtended: string;
}): string {
  const colors = Object.entries(brandColors).map(
    ([name, [light, dark]]) =>
      `  ${propertyOf(name as BrandColor)}: light-dark(${light}, ${dark});`,
  );
  const radii = Object.entries(brandRadii).map(
    ([name, pixels]) => `  --brand-radius-${name}: ${pixels}px;`,
  );
  return `${fontFace(fonts.latin, latinRange)}${fontFace(fonts.latinExtended, latinExtendedRange)}:root {
  color-scheme: light dark;
${colors.join('\n')}
${radii.join('\n')}
  --brand-font: ${brandFont};
  --brand-mono: ${monospaceFont};
  --brand-shadow: 0 1px 2px light-dark(rgb(16 32 42 / 6%), rgb(0 0 0 / 40%)), 0 8px 24px -12px light-dark(rgb(16 32 42 / 18%), rgb(0 0 0 / 60%));
}
`;
}

/** The custom property of a color, such as `--brand-accent-soft`. */
function propertyOf(name: BrandColor): string {
  return `--brand-${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function fontFace(url: string, range: string): string {
  return `@font-face {
  font-family: Geist;
  font-weight: 400 700;
  font-display: swap;
  src: url(${url}) format("woff2");
  unicode-range: ${range};
}
`;
}

/** Styles of the pages without scripts: one column that fits a phone, with the tokens of `brandStyles`. */
const pageStyles = `* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; background: var(--brand-canvas); color: var(--brand-ink);
  font: 400 .9375rem/1.55 var(--brand-font); overflow-wrap: anywhere;
  -webkit-font-smoothing: antialiased;
}
header { padding: clamp(1.5rem, 9vh, 5.5rem) 1rem 0; }
.brand {
  display: flex; align-items: center; justify-content: center; gap: .6rem; margin: 0;
  color: var(--brand-ink); font-size: 1.0625rem; font-weight: 600; letter-spacing: -.01em; text-decoration: none;
}
main {
  width: min(25rem, 100% - 2rem); margin: 1.5rem auto 4rem; padding: 2rem;
  background: var(--brand-surface); border: 1px solid var(--brand-line); border-radius: var(--brand-radius-card);
  box-shadow: var(--brand-shadow);
}
main:has(.wide) { width: min(46rem, 100% - 2rem); }
@media (max-width: 30rem) { main { padding: 1.5rem 1.25rem; } }
h1 { margin: 0 0 .5rem; font-size: 1.375rem; font-weight: 600; line-height: 1.25; letter-spacing: -.018em; }
h1 + form { margin-top: 1.25rem; }
h1 + .error, h1 + .note, h1 + h2 { margin-top: 1rem; }
main > p:last-child { margin-bottom: 0; }
h2 { margin: 0 0 .25rem; font-size: 1rem; font-weight: 600; letter-spacing: -.01em; }
p { margin: 0 0 1rem; }
.soft { color: var(--brand-soft); font-size: .875rem; }
label, legend { display: block; font-size: .875rem; font-weight: 500; margin: 0 0 .35rem; }
legend { padding: 0; }
fieldset { border: 0; margin: 0 0 1rem; padding: 0; }
input[type=email], input[type=password], input[type=text], select {
  width: 100%; height: 2.625rem; padding: 0 .75rem; margin: 0 0 1rem; font: inherit; color: inherit;
  background: var(--brand-surface); border: 1px solid var(--brand-edge); border-radius: var(--brand-radius-control);
}
select {
  --down: linear-gradient(45deg, transparent 42%, var(--brand-soft) 42% 62%, transparent 62%);
  --up: linear-gradient(-45deg, transparent 42%, var(--brand-soft) 42% 62%, transparent 62%);
  max-width: 28rem; padding-right: 2.25rem; text-overflow: ellipsis; appearance: none;
  background-image: var(--up), var(--down), var(--down), var(--up);
  background-position: right 17px top calc(50% - 4px), right 12px top calc(50% - 4px), right 17px top calc(50% + 4px), right 12px top calc(50% + 4px);
  background-size: 5px 5px; background-repeat: no-repeat;
}
input:hover, select:hover { border-color: var(--brand-soft); }
input[type=email]:focus, input[type=password]:focus, input[type=text]:focus, select:focus {
  outline: 2px solid var(--brand-accent); outline-offset: -1px; border-color: var(--brand-accent);
}
input[aria-invalid=true] { border-color: var(--brand-bad); }
input:has(+ .soft) { margin-bottom: .35rem; }
.choice {
  display: flex; gap: .65rem; align-items: center; font-size: .9375rem; padding: .65rem .8rem; margin: 0 0 .5rem;
  border: 1px solid var(--brand-line); border-radius: var(--brand-radius-control); cursor: pointer;
}
.choice:hover { background: var(--brand-hover); }
.choice:has(:checked) { border-color: var(--brand-accent); background: var(--brand-accent-soft); }
input[type=radio], input[type=checkbox] { width: 1rem; height: 1rem; margin: 0; accent-color: var(--brand-accent); flex: none; }
button, .button {
  display: inline-flex; align-items: center; justify-content: center; gap: .5rem; min-height: 2.625rem; padding: .4rem 1.1rem;
  font: inherit; font-weight: 600; line-height: 1.3; text-align: center; text-decoration: none; cursor: pointer;
  color: var(--brand-on-button); background: var(--brand-button); border: 1px solid transparent; border-radius: var(--brand-radius-control);
}
.key button { flex: none; }
button[hidden] { display: none; }
button:hover, .button:hover { background: var(--brand-button-hover); }
button.quiet, .button.quiet { color: var(--brand-ink); background: var(--brand-surface); border-color: var(--brand-edge); font-weight: 500; }
button.danger { color: var(--brand-bad); background: var(--brand-surface); border-color: var(--brand-bad); font-weight: 500; }
button.danger:hover { background: var(--brand-bad-soft); }
button.quiet:hover, .button.quiet:hover { background: var(--brand-hover); }
button.small, .button.small { min-height: 2.125rem; padding: .2rem .8rem; font-size: .875rem; }
button.link { min-height: 0; padding: 0; border: 0; background: none; color: var(--brand-accent); font-weight: 500; text-decoration: underline; text-underline-offset: .18em; }
form[data-passkey] { margin: 0 0 1.5rem; }
form + form[data-passkey] { margin-top: 1rem; }
.or { display: flex; gap: .75rem; align-items: center; color: var(--brand-soft); font-size: .875rem; }
.or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--brand-line); }
.label { display: flex; justify-content: space-between; align-items: baseline; }
.label .link { font-size: .875rem; }
.key { display: flex; gap: .75rem; align-items: center; justify-content: space-between; padding: .6rem .75rem; background: var(--brand-canvas); border-radius: var(--brand-radius-control); }
form + h2, p + h2 { margin-top: 2rem; }
p:has(> .button:only-child) { margin-top: 1.25rem; }
button.link:hover { background: none; color: var(--brand-accent-hover); }
a { color: var(--brand-accent); font-weight: 500; text-underline-offset: .18em; text-decoration-thickness: 1px; }
:focus-visible { outline: 2px solid var(--brand-accent); outline-offset: 2px; }
.actions { display: flex; flex-wrap: wrap; gap: .65rem; margin-top: 1.25rem; }
.actions > button, .actions > .button { flex: 1 1 auto; }
.actions.equal > button { flex-basis: 0; }
.wide .actions > :is(button, .button) { flex: 0 1 auto; }
.actions > .first { order: -1; }
[data-judged=weak] { color: var(--brand-bad); font-weight: 500; }
[data-judged=good] { color: var(--brand-good); font-weight: 500; }
.error, .note { padding: .65rem .85rem; border-radius: var(--brand-radius-control); font-size: .875rem; font-weight: 500; }
.error { background: var(--brand-bad-soft); color: var(--brand-bad); }
.note { background: var(--brand-accent-soft); }
.foot { margin: 1.5rem 0 0; padding-top: 1.1rem; border-top: 1px solid var(--brand-line); font-size: .875rem; color: var(--brand-soft); }
.foot p { margin: 0 0 .35rem; }
.foot h2 { color: var(--brand-ink); }
section { padding: 1.5rem 0; border-top: 1px solid var(--brand-line); }
section:last-child { padding-bottom: 0; }
section > :last-child { margin-bottom: 0; }
.head { display: flex; flex-wrap: wrap; gap: .75rem 1.5rem; align-items: flex-start; justify-content: space-between; margin-bottom: 1.5rem; }
.head p { margin: 0; }
.row { display: flex; flex-wrap: wrap; gap: .75rem 1.5rem; align-items: center; justify-content: space-between; }
.row p { margin: 0; }
.row > :first-child { flex: 1 1 16rem; }
ul.plain { list-style: none; margin: .75rem 0 0; padding: 0; border: 1px solid var(--brand-line); border-radius: var(--brand-radius-control); }
ul.plain > li { display: flex; flex-wrap: wrap; gap: .5rem 1rem; justify-content: space-between; align-items: center; padding: .7rem .9rem; }
ul.plain + p { margin-top: .75rem; }
ul.plain > li + li { border-top: 1px solid var(--brand-line); }
ul.plain > li > span:first-child { flex: 1 1 14rem; }
ul.plain .soft { display: block; }
.tag { padding: .1rem .55rem; border-radius: 99px; background: var(--brand-good-soft); color: var(--brand-good); font-size: .8125rem; font-weight: 500; }
ul.may { list-style: none; margin: 0 0 1rem; padding: .25rem 0; border-block: 1px solid var(--brand-line); }
ul.may > li { display: flex; gap: .6rem; padding: .45rem 0; }
ul.may > li::before { content: ""; flex: none; width: .9rem; height: .5rem; margin-top: .35rem; border: solid var(--brand-good); border-width: 0 0 2px 2px; transform: rotate(-45deg) scale(.72); }
ul.codes { list-style: none; margin: 0 0 1rem; padding: .9rem 1rem; display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .4rem 1rem; background: var(--brand-canvas); border-radius: var(--brand-radius-control); }
.qr { width: 12.5rem; max-width: 100%; margin: 0 auto 1rem; padding: .5rem; background: #fff; border: 1px solid var(--brand-line); border-radius: var(--brand-radius-control); }
.qr svg { display: block; width: 100%; height: auto; }
code { font: .9em var(--brand-mono); }
`;

/** A file that pages share, under a URL that changes with its content. */
interface BrandFile {
  readonly url: string;
  readonly type: string;
  readonly content: Buffer;
}

/** Prefix of the URLs of the shared files. */
export const brandPrefix = '/brand/';

const latin = readFont('geist-latin');
const latinExtended = readFont('geist-latin-ext');
const stylesheet = describeFile(
  'brand.css',
  'text/css; charset=utf-8',
  Buffer.from(brandStyles({ latin: latin.url, latinExtended: latinExtended.url })),
);
const pageStylesheet = describeFile(
  'pages.css',
  'text/css; charset=utf-8',
  Buffer.from(pageStyles),
);
const icon = describeFile('icon.svg', 'image/svg+xml', Buffer.from(brandIcon));

/** The font, the style sheets and the icon. */
export const brandFiles: readonly BrandFile[] = [
  latin,
  latinExtended,
  stylesheet,
  pageStylesheet,
  icon,
];

/**
 * The elements for the head of a page: icon, font and style sheet. The page's policy must allow fonts, images and styles of
 * this origin.
 */
export const brandHead = `<link rel="icon" href="${icon.url}" type="image/svg+xml">
<link rel="preload" href="${latin.url}" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="${stylesheet.url}">`;

/** The same for a page without scripts, with the styles of its content. */
export const pageHead = `<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${brandHead}
<link rel="stylesheet" href="${pageStylesheet.url}">`;

/** What the policy of such a page must allow (Content Security Policy Level 3). */
export const pageSources = "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'";

function readFont(name: string): BrandFile {
  const content = readFileSync(new URL(`./fonts/${name}.woff2`, import.meta.url));
  return describeFile(`${name}.woff2`, 'font/woff2', content);
}

function describeFile(name: string, type: string, content: Buffer): BrandFile {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 10);
  return { url: `${brandPrefix}${hash}-${name}`, type, content };
}
