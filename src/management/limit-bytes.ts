import { Transform } from 'node:stream';
import { Problem } from './answer/problem.ts';

/** Fails with a Problem beyond the given size. */
export function limitBytes(bytes: number): Transform {
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (size > bytes) done(new Problem('too-large', `The file is larger than ${bytes} bytes`));
      else done(null, chunk);
    },
  });
}
