/** Network errors, and PostgreSQL's classes 08 (connection), 53 (resources) and 57 (shutdown, starting up). */
const CODES = /^(E[A-Z]+|08.{3}|53.{3}|57P0[1-5])$/
const MESSAGES = /connection terminated|timeout exceeded when trying to connect|connection timeout/i

/** Whether an error says that PostgreSQL cannot be reached now, rather than that a statement is wrong. */
export function isDatabaseAway(error: unknown): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && CODES.test(String(cause.code))) return true
    if (MESSAGES.test(cause.message)) return true
    if (cause instanceof AggregateError && cause.errors.some(isDatabaseAway)) return true
  }
  return false
}
