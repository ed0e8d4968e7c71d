const INSUFFICIENT_PRIVILEGE = '42501'

/** PostgreSQL's SQLSTATE, or Node's code. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

export function isDenied(error: unknown): boolean {
  return codeOf(error) === INSUFFICIENT_PRIVILEGE
}

/** Codes that no network has. */
const FILE_CODES = new Set(['EDQUOT', 'EEXIST', 'EIO', 'EISDIR', 'ENOSPC', 'ENOTDIR', 'EROFS'])

/** Whether an error says that a file or folder cannot be used, rather than a server. */
export function isFileFault(error: unknown): error is NodeJS.ErrnoException {
  if (typeof error !== 'object' || error === null || !('syscall' in error)) return false
  // a socket of a file has an address
  return 'path' in error || ('code' in error && FILE_CODES.has(String(error.code)))
}

/** Another session holds a lock for longer than this one waits. */
const LOCK_TIMEOUT = '55P03'
/**
 * Network errors, and PostgreSQL's classes 08 (connection), 53 (resources) and 57 (shutdown, starting up,
 * a statement that took too long); 25006 is a replica that has not taken over yet, 25P03 a transaction that stood
 * still for too long.
 */
const CODES = /^(E[A-Z]+|08.{3}|53.{3}|57P0[1-5]|57014|25006|25P03|55P03)$/
/** The last of these hides what ended the connection when a transaction is rolled back on it. */
const MESSAGES =
  /connection terminated|timeout exceeded when trying to connect|connection timeout|is not queryable/i

/**
 * Whether an error says that PostgreSQL cannot do it now, because it cannot be reached or because somebody else holds
 * a lock, rather than that a statement is wrong: the same may be tried again in a moment.
 */
export function isDatabaseAway(error: unknown): boolean {
  for (let cause = error; isErrorLike(cause); cause = cause.cause) {
    if (isFileFault(cause)) return false
    if (CODES.test(String(cause.code)) || MESSAGES.test(cause.message)) return true
    // one for each address of the server's name
    if (cause.errors?.some(isDatabaseAway)) return true
  }
  return false
}

/** Whether an error says that a lock was waited for too long. */
export function isLockTimeout(error: unknown): boolean {
  return isErrorLike(error) && (error.code === LOCK_TIMEOUT || isLockTimeout(error.cause))
}

interface ErrorLike {
  message: string
  code?: unknown
  cause?: unknown
  errors?: unknown[]
}

/** Told by its shape: an error of Node's core is no `instanceof` our Error inside a test's sandbox. */
function isErrorLike(value: unknown): value is ErrorLike {
  return typeof value === 'object' && value !== null && 'message' in value
}

/** What PostgreSQL says to those whom it does not let in, by SQLSTATE, and what to do. */
const REMEDIES: Readonly<Record<string, string>> = {
  '28000': 'correct the role in DATABASE_URL, or let it in by pg_hba.conf',
  '28P01': 'correct role and password in DATABASE_URL',
  '3D000': 'create the database, or correct its name in DATABASE_URL',
  '42501': 'grant the role of DATABASE_URL what it lacks, or correct DATABASE_URL',
  '53300': 'raise PostgreSQL’s max_connections, or start fewer processes',
}

interface RefusedConnection {
  /** What PostgreSQL said, and its SQLSTATE. */
  said: string
  remedy: string
}

/** Why PostgreSQL answered and let nobody in; `undefined` if it did not answer, or if the error is another. */
export function refusalOf(error: unknown): RefusedConnection | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = 'code' in cause ? String(cause.code) : ''
    const remedy = REMEDIES[code]
    if (remedy !== undefined) return { said: `${cause.message} (${code})`, remedy }
  }
  return undefined
}
