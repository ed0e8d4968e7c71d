import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
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

test('what workflows decide with is evaluated once for all of them', async () => {
  const { code } = await workflowBundle(cache)
  const bundled = Array.from(code.matchAll(/^\/\*{3}\/ "\.\/(src\/[^"]+)"/gm), ([, file]) => file)
  const list = readFileSync(path.join(import.meta.dirname, '../../workflows/preloaded.ts'), 'utf8')
  const preloaded = Array.from(list.matchAll(/^import '\.\.\/(.+)'$/gm), ([, file]) => file)
  expect(bundled.length).toBeGreaterThan(10)
  expect(new Set(preloaded)).toEqual(new Set(bundled))
})
