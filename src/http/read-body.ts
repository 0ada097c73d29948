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

/** Bytes of a body that nobody wants which are still taken, so that its sender comes to read the answer (RFC 9112 section 9.6). */
const mostLetGoBy = 4 * 1024 * 1024;

/**
 * Lets what is still to come of a request's body go by, and ends the connection where that is too much.
 * @returns false where it is too much by what was announced: the connection is to end with the answer
 */
export function letRestGoBy(request: IncomingMessage): boolean {
  if (request.complete) return true;
  if (Number(request.headers['content-length'] ?? 0) > mostLetGoBy) return false;
  let gone = 0;
  request.on('data', (chunk: Buffer) => {
    gone += chunk.length;
    if (gone > mostLetGoBy) request.destroy();
  });
  return true;
}

function tooLarge(most: number): RawBody {
  return { unusable: `the body is larger than ${most / 1024} KiB` };
}
