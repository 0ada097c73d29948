import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

const folder = new URL('./assets/', import.meta.url);

/** The URLs of the style and script. */
export interface AssetUrls {
  readonly style: string;
  readonly script: string;
}

export interface Asset {
  readonly url: string;
  readonly type: string;
  readonly content: Buffer;
}

/** The files of the style sheet, in order; later ones refine earlier ones. */
const stylePieces = [
  'colors',
  'base',
  'bar',
  'list',
  'message',
  'panels',
  'welcome',
  'narrow',
  'preferences',
];

/** Reads the style and script of the pages. */
export async function readAssets(): Promise<Record<keyof AssetUrls, Asset>> {
  const [style, script] = await Promise.all([
    readAsset(stylePieces, 'css', 'text/css; charset=utf-8'),
    readAsset(['inbox'], 'js', 'text/javascript; charset=utf-8'),
  ]);
  return { style, script };
}

/** Concatenates files into one asset, with a URL that changes with its content. */
async function readAsset(
  names: readonly string[],
  extension: string,
  type: string,
): Promise<Asset> {
  const pieces = names.map((name) => readFile(new URL(`${name}.${extension}`, folder)));
  const content = Buffer.concat(await Promise.all(pieces));
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 12);
  return { url: `/inbox/assets/${hash}.${extension}`, type, content };
}
