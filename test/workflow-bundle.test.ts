import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from '@jest/globals'
import { workflowBundle } from '../src/workflow-bundle.ts'
import { temporaryFolder } from './support/folder.ts'

const keptFile = path.join(temporaryFolder(), 'cache', 'workflows.json')
const kept = () => JSON.parse(readFileSync(keptFile, 'utf8')) as { hash: string; code: string }

test('workflows are bundled once for the same sources, and anew for others', async () => {
  const first = await workflowBundle({ keptFile })
  expect(kept()).toEqual({
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    callStacks: false,
    ...first,
  })

  writeFileSync(keptFile, JSON.stringify({ ...kept(), code: 'of the same sources' }))
  expect(await workflowBundle({ keptFile })).toEqual({ code: 'of the same sources' })

  writeFileSync(keptFile, JSON.stringify({ hash: 'of other sources', code: 'other' }))
  expect(await workflowBundle({ keptFile })).toEqual(first)
  expect(kept().code).toBe(first.code)

  writeFileSync(keptFile, '{"half')
  expect(await workflowBundle({ keptFile })).toEqual(first)
})

test('where nothing can be kept, workflows are bundled all the same', async () => {
  const { code } = await workflowBundle({ keptFile: path.join(keptFile, 'a file is no folder') })
  expect(code).toContain('referral')
})

test('what workflows decide with is evaluated once for all of them', async () => {
  const { code } = await workflowBundle({ keptFile })
  const bundled = Array.from(code.matchAll(/^\/\*{3}\/ "\.\/(src\/core\/[^"]+)"/gm), ([, file]) => file)
  const list = readFileSync(path.join(import.meta.dirname, '../workflows/preloaded.ts'), 'utf8')
  const preloaded = Array.from(list.matchAll(/^import '\.\.\/(.+)'$/gm), ([, file]) => file)
  expect(bundled.length).toBeGreaterThan(10)
  expect(new Set(preloaded)).toEqual(new Set(bundled))
})

test('workflows are found in a folder whose name is written otherwise in a URL', () => {
  const folder = path.join(temporaryFolder(), 'of an 100% ünusual #name')
  symlinkSync(path.join(import.meta.dirname, '..'), folder)
  const module = pathToFileURL(path.join(folder, 'src/core/temporal/worker-options.ts'))
  const script = `import { bundleOptions } from ${JSON.stringify(module)}
    console.log(JSON.stringify(Object.values(bundleOptions({ callStacks: false })).flat()))`
  const options = ['--preserve-symlinks', '--input-type=module', '--eval', script]
  const files = JSON.parse(execFileSync(process.execPath, options, { encoding: 'utf8' })) as string[]
  expect(files).toHaveLength(5)
  expect(files.filter((file) => !file.startsWith(folder) || !existsSync(file))).toEqual([])
})
