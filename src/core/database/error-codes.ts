const INSUFFICIENT_PRIVILEGE = '42501'

/** PostgreSQL's SQLSTATE, or Node's code. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

export function isDenied(error: unknown): boolean {
  return codeOf(error) === INSUFFICIENT_PRIVILEGE
}
