import { attachmentPartLength } from '../../src/content/message/attachment-part.ts';
import { bodyWith, type SendClient } from './send-client.ts';

const info = { filename: 'data.bin', contentType: 'application/octet-stream', sha256: '' };

/**
 * The largest content of `data.bin` with which a message is within a limit.
 * @param limit bytes as sent
 * @param rest bytes of the message beside its attachment
 */
export function fillingContent(limit: number, rest: number): Buffer {
  let size = Math.floor(((limit - rest) * 57) / 78);
  while (attachmentPartLength({ ...info, size: size + 1 }) <= limit - rest) size += 1;
  while (attachmentPartLength({ ...info, size }) > limit - rest) size -= 1;
  return Buffer.alloc(size, 'x');
}

/** A body with `data.bin`. */
export function bodyWithFile(
  content: Buffer,
  toAddress = 'reader@example.test',
): Record<string, unknown> {
  return bodyWith({
    envelope: { toAddress },
    content: {
      personalizationDataMap: { 'Order Number': 'A' },
      attachments: [
        {
          filename: info.filename,
          contentType: info.contentType,
          content: content.toString('base64'),
        },
      ],
    },
    actions: { trackOpens: false, trackClicks: false },
  });
}

/** Finds what a message of `t-0001` takes beside its attachment, by the limit of its account. */
export async function findRest(client: SendClient, limit: number): Promise<number> {
  let [low, high] = [0, 64 * 1_024];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const response = await client.send({ body: bodyWithFile(fillingContent(limit, middle)) });
    if (response.status === 200) high = middle;
    else low = middle;
  }
  return high;
}
