import { Transform } from 'node:stream';
import { Problem } from './answer/problem.ts';

/** Fails with a Problem if the stream is larger than the limit. */
export function limitBytes(maxBytes: number): Transform {
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (size > maxBytes)
        done(new Problem('too-large', `The file is larger than ${maxBytes} bytes`));
      else done(null, chunk);
    },
  });
}
