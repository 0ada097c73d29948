import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;

/**
 * The service's log: JSON lines, by default on standard error, which leaves standard output to command output. Members that could
 * contain secrets or addresses are redacted here as a safety net.
 */
export function createLog(level: string, output: DestinationStream = standardError()): Log {
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: [
          'password',
          'secret',
          'token',
          'authorization',
          'req.headers',
          // The other fields of a PostgreSQL error can quote rows and parameters.
          'err.detail',
          'err.where',
          'err.internalQuery',
          '*.password',
          '*.authorization',
        ],
        remove: true,
      },
    },
    output,
  );
}

function standardError(): DestinationStream {
  return pino.destination({ fd: 2, sync: true });
}
