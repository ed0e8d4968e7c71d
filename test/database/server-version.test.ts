import { readFileSync } from 'node:fs'
import { expect, it } from '@jest/globals'
import { olderServer } from '../../src/database/schema-version.ts'
import { openDatabase } from '../support/open-database.ts'

it('names the oldest PostgreSQL that will do, as run.md does', async () => {
  const { sql } = await openDatabase()
  expect(await olderServer(sql)).toBeUndefined()
  expect(await olderServer(sql, 99)).toMatch(
    /^PostgreSQL \d+\.\d+.* is older than the service needs: use PostgreSQL 99 or newer$/,
  )
  expect(readFileSync('docs/run.md', 'utf8')).toMatch(/^\| PostgreSQL +\| 15 or newer /m)
})
