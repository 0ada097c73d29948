import { type AccountId, parseAccountId } from '../../base/values/ids.ts';

/** The path prefix of hosted images. */
export const hostedImagePrefix = '/images/';

const extensions: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
};

/** Identifies a hosted image. */
export interface HostedImageRef {
  readonly accountId: AccountId;
  /** Hex. */
  readonly sha256: string;
}

/** The public path of an image. */
export function hostedImagePath(
  { accountId, sha256 }: HostedImageRef,
  contentType: string,
): string {
  return `${hostedImagePrefix}${accountId}/${hostedImageFile(sha256, contentType)}`;
}

/** The last segment of the path. */
export function hostedImageFile(sha256: string, contentType: string): string {
  return `${sha256}.${extensions[contentType] ?? ''}`;
}

/** @param file the last segment of the path */
export function parseHostedImagePath(account: string, file: string): HostedImageRef | undefined {
  const accountId = parseAccountId(account);
  const sha256 = /^([0-9a-f]{64})\.\w{3,4}$/.exec(file)?.[1];
  return accountId === undefined || sha256 === undefined ? undefined : { accountId, sha256 };
}
