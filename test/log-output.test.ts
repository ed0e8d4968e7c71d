import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { describe, expect, it } from '@jest/globals'
import { atEnd } from './support/at-end.ts'
import { temporaryFolder } from './support/folder.ts'
import { preload } from './support/processes.ts'

const logger = path.join(import.meta.dirname, '../src/logger.ts')
const LINES = 60_000

/** Logs more than is kept, and tells over stderr how long it was ever held up meanwhile. */
const program = `
  const { createLogger } = await import(${JSON.stringify(logger)})
  const log = createLogger('info', 'worker')
  let worst = 0
  let last = performance.now()
  let logged = 0
  const look = setInterval(() => {
    const now = performance.now()
    worst = Math.max(worst, now - last)
    last = now
    for (let count = 0; count < 1000 && logged < ${LINES}; count += 1)
      log.info({ number: logged++, text: 'x'.repeat(200) }, 'line')
    if (logged === ${LINES}) {
      clearInterval(look)
      console.error('logged')
      setTimeout(() => {
        console.error(Math.round(worst))
        process.exit()
      }, 1500)
    }
  }, 10)`

/** @param read is given stdout once all is logged. */
async function run(stdout: 'pipe' | number, read: (stdout: Readable) => void = () => {}) {
  const child = spawn(process.execPath, [...preload, '--input-type=module', '--eval', program], {
    stdio: ['ignore', stdout, 'pipe'],
  })
  atEnd(async () => void child.kill('SIGKILL'))
  let errors = ''
  child.stderr?.on('data', (chunk) => {
    if (String(chunk).includes('logged') && child.stdout !== null) read(child.stdout)
    errors += String(chunk)
  })
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  return { code, signal, heldUpMs: Number(errors.replace('logged', '')) }
}

describe('a log', () => {
  it('is written line by line, in order', async () => {
    const file = path.join(temporaryFolder(), 'log')
    const fd = openSync(file, 'w')
    expect(await run(fd)).toMatchObject({ code: 0 })
    closeSync(fd)
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
    const numbers = lines.map((line) => (JSON.parse(line) as { number: number }).number)
    expect(numbers).toEqual(Array.from({ length: LINES }, (_, index) => index))
  })

  it('holds nothing up on a full disk, and ends well', async () => {
    const fd = openSync('/dev/full', 'w')
    const { code, heldUpMs } = await run(fd)
    closeSync(fd)
    expect(code).toBe(0)
    expect(heldUpMs).toBeLessThan(2000)
  })

  it('holds nothing up while nobody reads it, nor the end of its process', async () => {
    const { signal, heldUpMs } = await run('pipe')
    expect(signal).toBe('SIGKILL')
    expect(heldUpMs).toBeLessThan(2000)
  })

  it('says how many lines are lost, once somebody reads it again', async () => {
    let text = ''
    const { code } = await run('pipe', (stdout) => stdout.on('data', (chunk) => (text += String(chunk))))
    expect(code).toBe(0)
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { msg: string; lost?: number })
    const written = lines.filter(({ msg }) => msg === 'line').length
    const lost = lines.reduce((sum, line) => sum + (line.lost ?? 0), 0)
    expect(lost).toBeGreaterThan(0)
    expect(written + lost).toBe(LINES)
    expect(lines.at(-1)?.msg).toBe('lines of this log are lost: nobody took them')
  })
})
