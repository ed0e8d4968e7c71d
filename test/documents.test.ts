import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from '@jest/globals'

const root = path.join(import.meta.dirname, '..')
const coverage = readFileSync(path.join(root, 'docs/specification-coverage.md'), 'utf8')
/** The rows of its tables, without their heads. */
const rows = coverage.split('\n').filter((line) => /^\| (?!Rule |-)/.test(line))
const TEST = /`(test\/[^`]+)` “([^”]+)”/g

describe('docs/specification-coverage.md', () => {
  it('has a test, or a reason why there is none, in each row', () => {
    expect(rows.length).toBeGreaterThan(100)
    expect(rows.filter((row) => !row.includes('` “') && !row.includes('no test: '))).toEqual([])
  })

  it('names tests that exist, by their titles', () => {
    const named = [...coverage.matchAll(TEST)].map(([, file = '', title = '']) => ({ file, title }))
    expect(named).toHaveLength(coverage.split('“').length - 1)
    const missing = named.filter(({ file, title }) => !sourceOf(file).includes(`'${title}'`))
    expect(missing).toEqual([])
  })
})

function sourceOf(file: string): string {
  const absolute = path.join(root, file)
  return existsSync(absolute) ? readFileSync(absolute, 'utf8') : ''
}
