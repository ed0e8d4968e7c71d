import { execFile } from 'node:child_process'
import { appendFileSync, cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, it } from '@jest/globals'
import { temporaryFolder } from './support/folder.ts'

const root = path.join(import.meta.dirname, '..')
const product = temporaryFolder()
const staff = path.join(product, 'src/staff.ts')

/** @returns what it wrote. */
const node = async (...args: string[]) =>
  new Promise<string>((resolve) =>
    execFile(process.execPath, args, { cwd: product }, (_error, stdout, stderr) => resolve(stdout + stderr)),
  )
const runStaff = () => node('--require', './src/preload.cjs', 'src/staff.ts', '--help')
const bundle = () =>
  node('--eval', "import('./src/program-bundle.ts').then(({ bundlePrograms }) => bundlePrograms())")
const bundled = () => readdirSync(path.join(product, 'dist')).toSorted()

beforeAll(() => {
  for (const part of ['src', 'workflows', 'activities', 'package.json'])
    cpSync(path.join(root, part), path.join(product, part), { recursive: true })
  symlinkSync(path.join(root, 'node_modules'), path.join(product, 'node_modules'))
})

it('a program runs from its sources until it is bundled, and again once one of them differs', async () => {
  expect(await runStaff()).toMatch(/^Usage: /)
  expect(await bundle()).toBe('')
  expect(await runStaff()).toMatch(/^Usage: /)
  const file = bundled().find((name) => /^staff-.+\.mjs$/.test(name)) ?? ''
  writeFileSync(path.join(product, 'dist', file), "console.log('from the bundle')")
  expect(await runStaff()).toBe('from the bundle\n')

  appendFileSync(path.join(product, 'src/core/values/durations.ts'), '\n')
  expect(await runStaff()).toMatch(/^Usage: /)
})

it('the stack of an error names lines of the sources', async () => {
  const source = readFileSync(staff, 'utf8')
  writeFileSync(staff, `${source.trimEnd()}\n\nconsole.log(new Error('here').stack)\n`)
  const line = source.trimEnd().split('\n').length + 2
  expect(await bundle()).toBe('')
  expect(await runStaff()).toContain(`${path.join('src', 'staff.ts')}:${line}:`)
})

it('bundles anew only what is out of date', async () => {
  await bundle()
  const before = bundled()
  writeFileSync(path.join(product, 'dist/manifest.json'), '{}')
  expect(await runStaff()).toMatch(/^Usage: /)
  writeFileSync(path.join(product, 'dist/manifest.json'), '{"half')
  await bundle()
  expect(bundled()).toEqual(before)
  expect(JSON.parse(readFileSync(path.join(product, 'dist/manifest.json'), 'utf8'))).toMatchObject({
    programs: { 'src/server.ts': expect.stringMatching(/^server-\w+\.mjs$/) },
  })
})
