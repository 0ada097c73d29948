import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { json } from 'node:stream/consumers';

/** Where a file is sent to, and with what. */
export interface FileRequest {
  /** Of the send operation. */
  readonly url: string;
  readonly token: string;
  readonly to: string;
  readonly personalizationDataMap: Readonly<Record<string, string>>;
  /** The attachment's size as sent, in MiB. */
  readonly mebibytes: number;
}

/** Base64, the same for all; each file begins with 48 bytes of its own. */
const filler = randomBytes(0.75 * 1_024 * 1_024).toString('base64');

/**
 * Sends a message with one large attachment, without having all of it in memory.
 * @returns the status and the message's ID
 */
export async function sendFile(
  file: FileRequest,
): Promise<{ readonly status: number; readonly messageId: string }> {
  const [head = '', tail = ''] = JSON.stringify({
    envelope: { toAddress: file.to },
    content: {
      personalizationDataMap: file.personalizationDataMap,
      attachments: [
        { filename: 'a.bin', contentType: 'application/octet-stream', content: 'CONTENT' },
      ],
    },
    actions: { trackOpens: false, trackClicks: false },
  }).split('CONTENT');
  const start = head + randomBytes(48).toString('base64');
  const outgoing = request(file.url, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${file.token}`,
      'content-type': 'application/json',
      'content-length': start.length + file.mebibytes * filler.length + tail.length,
    },
  });
  const answered = once(outgoing, 'response');
  outgoing.write(start);
  const answer = answered.then(async ([response]) => {
    const body = (await json(response)) as { readonly messageId?: string };
    return { status: Number(response.statusCode), messageId: body.messageId ?? '' };
  });
  const write = async (): Promise<void> => {
    for (let count = 0; count < file.mebibytes; count += 1)
      if (!outgoing.write(filler)) await once(outgoing, 'drain');
    outgoing.end(tail);
  };
  await Promise.race([write(), answered]).catch(() => undefined);
  return answer;
}
