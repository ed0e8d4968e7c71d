import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { programs } from '../src/config/schema.ts'

const read = (file: string) => readFileSync(path.join(import.meta.dirname, '..', file), 'utf8')
const settings = read('docs/settings.md')
const compose = read('docker-compose.yml')
const example = read('.env.example')
const namesIn = (text: string) =>
  Array.from(text.matchAll(/^(?:# )?([A-Z][A-Z0-9_]*)=/gm), ([, name = '']) => name)

/** Each variable with the programs that read it and its default, by the configuration schema. */
const stated: Record<string, { programs: string[]; default: string }> = {}
for (const [program, { shape }] of Object.entries(programs)) {
  for (const [name, schema] of Object.entries(shape)) {
    const { success, data } = schema.safeParse(undefined)
    const shown = data === undefined || String(data) === '' ? '–' : `\`${String(data)}\``
    stated[name] ??= { programs: [], default: success ? shown : 'required' }
    stated[name].programs.push(program)
  }
}

describe('docs/settings.md', () => {
  const rows = settings.matchAll(/^\| `([A-Z0-9_]+)` +\| ([a-z-]+(?:, [a-z-]+)*) +\| ([^|]+?) +\| \S/gm)
  const listed = Array.from(rows, ([, name = '', readers = '', fallback = '']) => ({
    name,
    programs: readers.split(', '),
    // `RATE_LIMIT` has another default in production
    default: fallback.replace(/ in a sandbox, .*/, ''),
  })).filter(({ programs: [first = ''] }) => first in programs)

  test('lists each variable once, with the programs that read it and its default', () => {
    const expected = Object.entries(stated).map(([name, facts]) => ({ name, ...facts }))
    const byName = (one: { name: string }, other: { name: string }) => one.name.localeCompare(other.name)
    expect(listed.toSorted(byName)).toEqual(expected.toSorted(byName))
  })

  test('lists each variable that docker compose takes from .env', () => {
    const taken = new Set(Array.from(compose.matchAll(/\$\{([A-Z0-9_]+)/g), ([, name = '']) => name))
    expect(taken.size).toBeGreaterThan(20)
    expect([...taken].filter((name) => !settings.includes(`\`${name}\``))).toEqual([])
  })
})

describe('.env.example', () => {
  test('names only variables that docs/settings.md lists, each once', () => {
    const names = namesIn(example)
    expect(names.filter((name) => !settings.includes(`\`${name}\``))).toEqual([])
    expect(names).toEqual([...new Set(names)])
  })

  test('names each variable that docker compose requires', () => {
    const required = Array.from(compose.matchAll(/\$\{([A-Z0-9_]+):\?/g), ([, name = '']) => name)
    expect(required.length).toBeGreaterThan(5)
    expect(required.filter((name) => !namesIn(example).includes(name))).toEqual([])
  })

  test('holds no secret', () => {
    expect(example).toMatch(/^ENCRYPTION_KEY=$/m)
    expect(example.match(/^(# )?[A-Z_]*(KEY|PASSWORD|TOKEN)=.+$/gm)).toBeNull()
  })
})
