import type { IncomingMessage } from 'node:http';

/** The bytes of a body, or why there are none. */
export type RawBody = Buffer | { readonly unusable: string };

const notWhole: RawBody = { unusable: 'the body was not sent whole' };

/**
 * Reads the body of a request, whatever its content type says.
 * @param most bytes; of a larger body nothing is kept, and what is still to come is let go by
 */
export function readBody(request: IncomingMessage, most: number): Promise<RawBody> {
  const announced = request.headers['content-length'];
  const length = announced === undefined ? undefined : Number(announced);
  if (length !== undefined && length > most) return Promise.resolve(tooLarge(most));
  if (request.destroyed) return Promise.resolve(notWhole);
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let read = 0;
    const finish = (): void => {
      const [first] = chunks;
      resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks));
    };
    request.on('data', (chunk: Buffer) => {
      read += chunk.length;
      if (read > most) {
        chunks.length = 0;
        resolve(tooLarge(most));
        return;
      }
      chunks.push(chunk);
      // As long as it was said to be (RFC 9112 section 6.2): nothing of it can be missing.
      if (read === length) finish();
    });
    request.on('end', () => {
      if (length === undefined || length === 0) finish();
    });
    request.on('error', () => resolve(notWhole));
  });
}

function tooLarge(most: number): RawBody {
  return { unusable: `the body is larger than ${most / 1024} KiB` };
}
