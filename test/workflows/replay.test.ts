import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { scenes } from './scenes.ts'

const program = path.join(import.meta.dirname, 'replay-histories.ts')
const folder = path.join(import.meta.dirname, 'histories')

describe('recorded histories', () => {
  it('are there for every branch of the workflow', () => {
    expect(readdirSync(folder).toSorted()).toEqual(
      Object.keys(scenes)
        .map((name) => `${name}.json`)
        .toSorted(),
    )
  })

  it('replay with the workflow as it is', async () => {
    expect(await replay()).toEqual({ replayed: Object.keys(scenes).length, failures: {} })
  }, 60_000)

  it('do not replay once two activities are exchanged', async () => {
    const { failures } = await replay('sendOnboardingEmail', 'deliverWebhook')
    expect(Object.keys(failures)).toContain('started.json')
    expect(failures['started.json']).toMatch(/DeterminismViolationError|Nondeterminism/)
  }, 60_000)
})

function replay(...exchanged: string[]): Promise<{ replayed: number; failures: Record<string, string> }> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, folder, ...exchanged], (error, stdout, stderr) => {
      const lines = stdout.trim().split('\n')
      if (lines.at(-1)?.startsWith('{')) resolve(JSON.parse(lines.at(-1) ?? ''))
      else reject(new Error(stderr, { cause: error }))
    })
  })
}
