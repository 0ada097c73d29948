import { codeOf } from '../../base/database/sqlstate.ts';
import { Fault, messageOf } from '../../base/values/errors.ts';
import { errorCatalog } from '../../host/http/error-catalog.ts';

/** Why a table can't be read; its account can fix it. */
export class TableProblem extends Error {
  /** @param name such as `COLUMN_MISSING` */
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** SQLSTATE codes (PostgreSQL manual, appendix A) and MySQL's symbols of errors that people can do something about. */
const codes = {
  READ_ONLY: '25006 ER_OPTION_PREVENTS_STATEMENT',
  LOGIN_FAILED: '28000 28P01 ER_ACCESS_DENIED_ERROR',
  DATABASE_MISSING: '3D000 ER_BAD_DB_ERROR',
  PERMISSION_DENIED:
    '42501 ER_DBACCESS_DENIED_ERROR ER_TABLEACCESS_DENIED_ERROR ER_COLUMNACCESS_DENIED_ERROR',
  COLUMN_MISSING: '42703 ER_BAD_FIELD_ERROR',
  TABLE_MISSING: '42P01 ER_NO_SUCH_TABLE',
  TABLE_LOCKED: '55P03 57014 ER_LOCK_WAIT_TIMEOUT',
};

const maxDetailLength = 300;

/** Says why a source can't be read now, as its account sees it. The server's text is a stranger's. */
export function describeFailure(error: unknown) {
  if (error instanceof Fault) return { name: error.code, detail: errorCatalog[error.code].message };
  if (error instanceof TableProblem) return { name: error.name, detail: error.message };
  const isOfServer = ['severity', 'sqlState'].some((name) => Object.hasOwn(Object(error), name));
  const [known] =
    Object.entries(codes).find(([, of]) => of.split(' ').includes(codeOf(error) ?? '')) ?? [];
  const name = isOfServer ? (known ?? 'STATEMENT_FAILED') : 'UNREACHABLE';
  const detail = messageOf(error).slice(0, maxDetailLength).toWellFormed().replaceAll('\0', '');
  return { name, detail };
}
