import { codeOf } from '../../base/database/sqlstate.ts';
import { Fault, messageOf } from '../../base/values/errors.ts';
import { errorCatalog } from '../../host/http/error-catalog.ts';
import { TableProblem } from './outbox-table-store.ts';

/** SQLSTATE codes (PostgreSQL manual, appendix A) and MySQL's symbols of errors that people can do something about. */
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
  ER_OPTION_PREVENTS_STATEMENT: 'READ_ONLY',
  ER_ACCESS_DENIED_ERROR: 'LOGIN_FAILED',
  ER_BAD_DB_ERROR: 'DATABASE_MISSING',
  ER_DBACCESS_DENIED_ERROR: 'PERMISSION_DENIED',
  ER_TABLEACCESS_DENIED_ERROR: 'PERMISSION_DENIED',
  ER_COLUMNACCESS_DENIED_ERROR: 'PERMISSION_DENIED',
  ER_BAD_FIELD_ERROR: 'COLUMN_MISSING',
  ER_NO_SUCH_TABLE: 'TABLE_MISSING',
  ER_LOCK_WAIT_TIMEOUT: 'TABLE_LOCKED',
};

const maxDetailLength = 300;

/** Names why a source can't be read now, as its account sees it. The server's text is a stranger's. */
export function describeFailure(error: unknown): {
  readonly name: string;
  readonly detail: string;
} {
  if (error instanceof Fault) return { name: error.code, detail: errorCatalog[error.code].message };
  if (error instanceof TableProblem) return { name: error.code, detail: error.message };
  const code = codeOf(error) ?? '';
  const isOfServer = ['severity', 'sqlState'].some((name) => Object.hasOwn(Object(error), name));
  const name = isOfServer ? (named[code] ?? 'STATEMENT_FAILED') : 'UNREACHABLE';
  const detail = messageOf(error).slice(0, maxDetailLength).toWellFormed().replaceAll('\0', '');
  return { name, detail };
}
