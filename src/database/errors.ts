/** PostgreSQL's SQLSTATE, or Node's code. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

export const isDenied = (error: unknown) => codeOf(error) === '42501'

/** Codes of errors about an open file, which name no path. */
const FILE_CODES = new Set(['EDQUOT', 'EIO', 'ENOSPC'])

/** Whether an error says that a file or folder cannot be used, rather than a server. */
export function isFileFault(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && ('path' in error || FILE_CODES.has(codeOf(error)))
}

/**
 * Network errors, and PostgreSQL's classes 08 (connection), 53 (resources) and 57 (shutdown, starting up, a statement that
 * took too long). 25006 is a replica that has not taken over yet, 25P03 a transaction that stood still for too long, 55P03
 * a lock that was waited for too long.
 */
const CODES = /^(E[A-Z]+|08.{3}|53.{3}|57P0[1-5]|57014|25006|25P03|55P03)$/
/** The last of these hides what ended the connection when a transaction is rolled back on it. */
const MESSAGES =
  /connection terminated|timeout exceeded when trying to connect|connection timeout|is not queryable/i

/** Whether PostgreSQL cannot be reached, or a lock is held: a retry may succeed in a moment. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error) || isFileFault(error)) return false
  if (CODES.test(codeOf(error)) || MESSAGES.test(error.message)) return true
  // an AggregateError has one for each address of the server's name
  return isDatabaseAway(error.cause) || (error instanceof AggregateError && error.errors.some(isDatabaseAway))
}

/** Whether a lock was waited for too long. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && (codeOf(error) === '55P03' || isLockTimeout(error.cause))
}
