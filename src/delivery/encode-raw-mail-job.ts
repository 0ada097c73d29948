import { toBuffer } from '../foundation/mime/mail-threads.ts';
import { encodeForSevenBits } from '../rendering/encode-for-seven-bits.ts';

export function encodeRawMailJob({ source }: { readonly source: Uint8Array }): Uint8Array {
  return encodeForSevenBits(toBuffer(source));
}
