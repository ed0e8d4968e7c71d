import { isFileFault } from '../values/file-fault.ts'

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
