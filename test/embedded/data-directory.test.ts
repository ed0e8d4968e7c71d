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
  for (const name of ['run.sock', ...temporal]) write(name)
})

test('a start keeps the data of the one before', () => {
  removeUnusable(dataDirectory, false)
  expect(left()).toEqual(['embedded.json', 'run.sock', ...temporal])
})

test('a fresh start removes everything but the socket of this run', () => {
  removeUnusable(dataDirectory, true)
  expect(left()).toEqual(['run.sock'])
})

test('a start whose settings are lost removes the data that needs them', () => {
  rmSync(path.join(dataDirectory, 'embedded.json'))
  removeUnusable(dataDirectory, false)
  expect(left()).toEqual(['run.sock'])
  expect(readdirSync(postgresFolder(dataDirectory))).not.toContain('data')
})
