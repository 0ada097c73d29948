import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { Log } from '../../src/base/values/log.ts';

/** A log that collects its lines. */
export function logIntoLines(level: string): {
  readonly log: Log;
  readonly lines: Record<string, unknown>[];
} {
  const lines: Record<string, unknown>[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
      done();
    },
  });
  return { log: pino({ level }, sink), lines };
}
