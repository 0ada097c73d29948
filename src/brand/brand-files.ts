import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brandIcon } from './brand-mark.ts';
import { brandStyles } from './brand-styles.ts';
import { pageStyles } from './page-styles.ts';

/** A file that pages share, under a URL that changes with its content. */
export interface BrandFile {
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
