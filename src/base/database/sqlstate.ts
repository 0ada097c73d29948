/** Classifies SQLSTATE codes (PostgreSQL manual, appendix A) and connection errors by how the service reacts. */

const unavailableCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57014', // query_canceled: a statement timeout
  '25006', // read_only_sql_transaction: a standby after failover
  '55P03', // lock_not_available: a lock timeout
]);

/** Classes 08 connection exception, 53 insufficient resources (disk full, too many connections), 58 system error, XX internal. */
const unavailableClasses = new Set(['08', '53', '58', 'XX']);

const retryableCodes = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
]);

const connectionMessages =
  /connection terminated|timeout exceeded when trying to connect|client has encountered a connection error|cannot use a pool after|connection ended|not queryable|Query read timeout/i;

/** The `code` of a Node or server error, or undefined. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** True if the database is temporarily unavailable and the same request may succeed later. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  const code = codeOf(error);
  if (code !== undefined) {
    return (
      unavailableCodes.has(code) || (code.length === 5 && unavailableClasses.has(code.slice(0, 2)))
    );
  }
  return error instanceof Error && connectionMessages.test(error.message);
}

/** True if the statement changed nothing and should be retried immediately. */
export function isRetryable(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && retryableCodes.has(code);
}

/** True if a referenced row doesn't exist, or the row is still referenced. */
export function isForeignKeyViolation(error: unknown): boolean {
  return codeOf(error) === '23503';
}

/** True if the row violates a unique index. */
export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === '23505';
}
