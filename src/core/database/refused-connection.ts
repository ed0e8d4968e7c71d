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
