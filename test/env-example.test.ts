import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { programs } from '../src/config/schema.ts'

describe('.env.example', () => {
  const example = readFileSync(path.join(import.meta.dirname, '../.env.example'), 'utf8')
  const [ofService = '', ofCompose = ''] = example.split('# Only for docker compose')
  const namesIn = (text: string) =>
    Array.from(text.matchAll(/^(?:# )?([A-Z][A-Z0-9_]*)=/gm), ([, name = '']) => name)

  /** Each variable with the programs that read it, by the configuration schema. */
  const readers: Record<string, string[]> = {}
  for (const [program, { shape }] of Object.entries(programs))
    for (const name of Object.keys(shape)) (readers[name] ??= []).push(program)

  test('names each variable of the service, and beside them only those of Temporal', () => {
    const own = namesIn(ofService).filter((name) => name in readers || !name.startsWith('TEMPORAL_'))
    expect(new Set(own)).toEqual(new Set(Object.keys(readers)))
  })

  test('ends the comment of each with the programs that read it', () => {
    const said: Record<string, string[]> = {}
    const blocks = ofService.matchAll(/((?:^# (?![A-Z0-9_]+=).*\n)+)((?:^(?:# )?[A-Z0-9_]+=.*\n)+)/gm)
    for (const [, comment = '', variables = ''] of blocks) {
      const [last = ''] = /[^.;:]*\.$/.exec(comment.trimEnd()) ?? []
      const named = last
        .toLowerCase()
        .replaceAll(/\n# |\.$/g, ' ')
        .split(',')
      for (const name of namesIn(variables))
        if (name in readers) said[name] = named.map((word) => word.trim()).toSorted()
    }
    const read = Object.entries(readers).map(([name, list]) => [name, list.toSorted()])
    expect(said).toEqual(Object.fromEntries(read))
  })

  test('names nothing twice, and everything under a comment', () => {
    const names = namesIn(ofService + ofCompose)
    expect(names).toEqual([...new Set(names)])
    expect(example).not.toMatch(/\n\n(# )?[A-Z][A-Z0-9_]*=/)
  })

  test('holds no secret', () => {
    expect(example).toMatch(/^ENCRYPTION_KEY=$/m)
    expect(example.match(/^(# )?[A-Z_]*(KEY|PASSWORD|TOKEN)=.+$/gm)).toBeNull()
  })
})
