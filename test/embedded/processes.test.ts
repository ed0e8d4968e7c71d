import { execFileSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from '@jest/globals'
import { temporaryFolder } from '../support/folder.ts'

const processes = path.join(import.meta.dirname, '../../src/embedded/processes.ts')
const asOnMacOs = `Object.defineProperty(process, 'platform', { value: 'darwin' })
  const { identify } = await import(${JSON.stringify(processes)})
  console.log(identify(1).started)`

test('recognizes a process on macOS from a terminal with another language and time zone', () => {
  const folder = temporaryFolder()
  const ps = path.join(folder, 'ps')
  writeFileSync(ps, '#!/bin/sh\necho "in $LC_ALL, $TZ"\n')
  chmodSync(ps, 0o755)
  const startedFrom = (terminal: Record<string, string>) =>
    execFileSync(process.execPath, ['--input-type=module', '-e', asOnMacOs], {
      encoding: 'utf8',
      env: { PATH: `${folder}:/usr/bin:/bin`, ...terminal },
    })
  const started = startedFrom({ LC_ALL: 'de_DE.UTF-8', TZ: 'Europe/Berlin' })
  expect(started).toMatch(/^in /)
  expect(startedFrom({ LC_ALL: 'en_US.UTF-8', TZ: 'America/New_York' })).toBe(started)
})
