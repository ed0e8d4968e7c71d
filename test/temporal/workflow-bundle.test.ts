import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from '@jest/globals'
import { workflowBundle } from '../../src/temporal/workflow-bundle.ts'
import { temporaryFolder } from '../support/folder.ts'

const cache = path.join(temporaryFolder(), 'cache')
const kept = path.join(cache, 'workflows.js')

test('workflows are bundled once, and anew when a source is newer', async () => {
  const first = await workflowBundle(cache)
  expect(readFileSync(kept, 'utf8')).toBe(first.code)

  writeFileSync(kept, 'newer than all sources')
  expect(await workflowBundle(cache)).toEqual({ code: 'newer than all sources' })

  utimesSync(kept, 0, statSync(path.join(import.meta.dirname, '../../src/worker.ts')).mtimeMs / 1000 - 1)
  expect(await workflowBundle(cache)).toEqual(first)
  expect(readFileSync(kept, 'utf8')).toBe(first.code)
})

test('where nothing can be kept, workflows are bundled all the same', async () => {
  const { code } = await workflowBundle(path.join(kept, 'a file is no folder'))
  expect(code).toContain('referral')
})

test('what workflows decide with is evaluated once for all of them', async () => {
  const { code } = await workflowBundle(cache)
  const bundled = Array.from(code.matchAll(/^\/\*{3}\/ "\.\/(src\/[^"]+)"/gm), ([, file]) => file)
  const list = readFileSync(path.join(import.meta.dirname, '../../workflows/preloaded.ts'), 'utf8')
  const preloaded = Array.from(list.matchAll(/^import '\.\.\/(.+)'$/gm), ([, file]) => file)
  expect(bundled.length).toBeGreaterThan(10)
  expect(new Set(preloaded)).toEqual(new Set(bundled))
})

test('workflows are found in a folder whose name is written otherwise in a URL', () => {
  const folder = path.join(temporaryFolder(), 'of an 100% ünusual #name')
  symlinkSync(path.join(import.meta.dirname, '../..'), folder)
  const module = pathToFileURL(path.join(folder, 'src/temporal/worker-options.ts'))
  const script = `import { bundleOptions } from ${JSON.stringify(module)}
    console.log(JSON.stringify(Object.values(bundleOptions).flat()))`
  const options = ['--preserve-symlinks', '--input-type=module', '--eval', script]
  const files = JSON.parse(execFileSync(process.execPath, options, { encoding: 'utf8' })) as string[]
  expect(files).toHaveLength(4)
  expect(files.filter((file) => !file.startsWith(folder) || !existsSync(file))).toEqual([])
})
