import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, test } from '@jest/globals'
import { postgresFolder, removeUnusable } from '../../src/embedded/data-directory.ts'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'

const temporal = ['temporal.db', 'temporal.db-wal', 'temporal.log']
let dataDirectory: string

const write = (name: string, content = '') => writeFileSync(path.join(dataDirectory, name), content)
const left = () => readdirSync(dataDirectory).filter((name) => name !== 'postgres')

beforeEach(() => {
  const folder = temporaryFolder()
  dataDirectory = folder
  const data = path.join(postgresFolder(folder), 'data')
  mkdirSync(data, { recursive: true })
  atEnd(async () => rmSync(postgresFolder(folder), { recursive: true, force: true }))
  write('embedded.json', '{}')
  for (const name of ['run.json', ...temporal]) write(name)
})

const lose = (name: string) =>
  rmSync(name === 'data' ? path.join(postgresFolder(dataDirectory), name) : path.join(dataDirectory, name), {
    recursive: true,
  })

test('keeps everything that belongs together', () => {
  removeUnusable(dataDirectory, false, {})
  expect(left()).toEqual(['embedded.json', 'run.json', ...temporal])
})

test('removes everything that is asked for, but the record of this run', () => {
  removeUnusable(dataDirectory, true, {})
  expect(left()).toEqual(['run.json'])
})

test('says what to do about settings that were cut off, and starts over if asked', () => {
  write('embedded.json', '{"postgresPass')
  expect(() => removeUnusable(dataDirectory, false, {})).toThrow(/embedded\.json cannot be read .* --fresh$/)
  expect(left()).toEqual(['embedded.json', 'run.json', ...temporal])
  removeUnusable(dataDirectory, true, {})
  expect(left()).toEqual(['run.json'])
})

test.each(['data', 'embedded.json'])('removes Temporal’s workflows when PostgreSQL’s %s is lost', (name) => {
  lose(name)
  removeUnusable(dataDirectory, false, {})
  expect(left()).not.toContain('temporal.db')
  expect(left()).not.toContain('temporal.db-wal')
  expect(readdirSync(postgresFolder(dataDirectory))).not.toContain('data')
})

test('keeps Temporal’s workflows when the record is in a PostgreSQL of somebody else', () => {
  lose('data')
  removeUnusable(dataDirectory, false, { DATABASE_URL: 'postgres://db.example/leads' })
  expect(left()).toContain('temporal.db')
})
