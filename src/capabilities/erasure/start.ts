/** For npm start, which has no time for what this imports before PostgreSQL starts. */
export const loadEraseMigrated = async () => (await import('./migrated.ts')).eraseMigrated
