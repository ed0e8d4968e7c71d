/** Where `npm run test:pgbouncer` has its pooler; elsewhere there is none, and all of this changes nothing. */
const { TEST_POOLER: pooler, TEST_POOLER_CARRIES_NAMES: carriesNames } = process.env

/** The same database through the pooler. */
export function pooled(databaseUrl: string): string {
  if (!pooler) return databaseUrl
  const url = new URL(databaseUrl)
  url.host = pooler
  return url.href
}

export const areNamed = !pooler || carriesNames === 'true'

/** What a program behind it is set to. */
export const pooledSettings: Record<string, string> = areNamed ? {} : { DATABASE_STATEMENT_NAMES: 'false' }
