import type { Database } from '../foundation/database/open-database.ts';
import type { Log } from '../foundation/log.ts';
import { LogTail } from '../foundation/log-output/log-tail.ts';
import { type AuditLine, findAuditWindowEnd, readAuditWindow } from './audit-tail-store.ts';

/** Writes each event of the audit log as a line, whatever LOG_LEVEL is; also those of commands. */
export function logAuditEvents(database: Database, log: Log): LogTail<AuditLine> {
  const lines = log.child({ log: 'audit' }, { level: 'info' });
  return new LogTail({
    name: 'audit',
    database,
    log,
    findEnd: findAuditWindowEnd,
    read: readAuditWindow,
    write: (event) => lines.info(event, 'audit event'),
  });
}
