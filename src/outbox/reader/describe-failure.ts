import { codeOf } from '../../base/database/sqlstate.ts';
import { Fault, messageOf } from '../../base/values/errors.ts';
import { errorCatalog } from '../../host/http/error-catalog.ts';
import type { SourceReading } from '../source/outbox-source-store.ts';
import { TableProblem } from './outbox-table-store.ts';

/** SQLSTATE codes (PostgreSQL manual, appendix A) that people can do something about. */
const named: Readonly<Record<string, string>> = {
  '25006': 'READ_ONLY',
  '28000': 'LOGIN_FAILED',
  '28P01': 'LOGIN_FAILED',
  '3D000': 'DATABASE_MISSING',
  '42501': 'PERMISSION_DENIED',
  '42703': 'COLUMN_MISSING',
  '42P01': 'TABLE_MISSING',
  '55P03': 'TABLE_LOCKED',
  '57014': 'TABLE_LOCKED',
};

const maxDetailLength = 300;

/** Names why a source can't be read now, as its account sees it. The server's text is a stranger's. */
export function describeFailure(error: unknown): NonNullable<SourceReading['failure']> {
  if (error instanceof Fault) return { name: error.code, detail: errorCatalog[error.code].message };
  if (error instanceof TableProblem) return { name: error.code, detail: error.message };
  const code = codeOf(error) ?? '';
  const isOfServer = /^[0-9A-Z]{5}$/.test(code) && Object.hasOwn(error as object, 'severity');
  const name = isOfServer ? (named[code] ?? 'STATEMENT_FAILED') : 'UNREACHABLE';
  const detail = messageOf(error).slice(0, maxDetailLength).toWellFormed().replaceAll('\0', '');
  return { name, detail };
}
