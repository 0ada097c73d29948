import { type Logger, pino } from 'pino';

export type Log = Logger;

/**
 * The service's log: JSON lines on standard error, so that standard output belongs to what a command prints.
 * Members that could carry secrets or addresses are cut here once more, whoever logs them.
 */
export function createLog(level: string): Log {
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
          // What PostgreSQL says beside the message of an error quotes rows and parameters.
          'err.detail',
          'err.where',
          'err.internalQuery',
          '*.password',
          '*.authorization',
        ],
        remove: true,
      },
    },
    pino.destination({ fd: 2, sync: true }),
  );
}
