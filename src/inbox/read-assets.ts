import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

const folder = new URL('./assets/', import.meta.url);

/** Where the pages find their style, script and icon. */
export interface AssetUrls {
  readonly style: string;
  readonly script: string;
  readonly icon: string;
}

export interface Asset {
  readonly url: string;
  readonly type: string;
  readonly content: Buffer;
}

/** The style is written in these pieces, in this order; later ones refine earlier ones. */
const stylePieces = [
  'colours',
  'base',
  'bar',
  'list',
  'message',
  'panels',
  'welcome',
  'narrow',
  'preferences',
];

/** The style, script and icon of the pages. */
export async function readAssets(): Promise<Record<keyof AssetUrls, Asset>> {
  const [style, script, icon] = await Promise.all([
    readAsset(stylePieces, 'css', 'text/css; charset=utf-8'),
    readAsset(['inbox'], 'js', 'text/javascript; charset=utf-8'),
    readAsset(['icon'], 'svg', 'image/svg+xml'),
  ]);
  return { style, script, icon };
}

/** Files beside the pages as one, at an address that changes with the content. */
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
