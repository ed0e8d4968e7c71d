import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from '@jest/globals'
import { postgresFolder } from '../../src/embedded/data-directory.ts'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'
import { preload } from '../support/processes.ts'
import { partnerCalls } from '../support/service.ts'
import { until } from '../support/until.ts'
import { childrenOf } from '../bench/cpu.ts'

const folder = realpathSync(temporaryFolder())
const dataDirectory = path.join(folder, '.data')
const program = path.join(import.meta.dirname, '../../src/start.ts')
let latest: ChildProcess

atEnd(async () => rmSync(postgresFolder(dataDirectory), { recursive: true, force: true }))
atEnd(() => end('SIGTERM'))

/** `npm start`, but for npm, which would run it in the project's own folder. */
function start(...args: string[]) {
  const env = { ...process.env, DATABASE_URL: '', TEMPORAL_ADDRESS: '' }
  const child = spawn(process.execPath, [...preload, program, ...args], { cwd: folder, env })
  const errors: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line))
  return { child, errors }
}

async function end(signal: NodeJS.Signals): Promise<number | null> {
  if (latest.exitCode === null && latest.signalCode === null) {
    latest.kill(signal)
    await once(latest, 'close')
  }
  return latest.exitCode
}

/** Starts it and waits for its line: what that says, and calls as the demo partner makes them. */
async function ready() {
  const { child, errors } = start('--json')
  latest = child
  const lines = createInterface({ input: child.stdout })
  const failed = once(child, 'close').then(() => Promise.reject(new Error(errors.join('\n'))))
  const [line] = (await Promise.race([once(lines, 'line'), failed])) as [string]
  failed.catch(() => undefined)
  const sandbox = JSON.parse(line) as Record<string, unknown>
  return { sandbox, ...partnerCalls(Number(new URL(String(sandbox.api)).port), String(sandbox.key)) }
}

/** The processes that it has started: four servers, and what ends those with it. */
const started = () => childrenOf([latest.pid ?? 0])
const areGone = (pids: string[]) => {
  const running = readdirSync('/proc')
  return pids.every((pid) => !running.includes(pid))
}
const programs = (pids: string[]) =>
  pids.map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '))

test('npm start runs everything once, keeps its data after kill -9, and stops everything on Ctrl-C', async () => {
  const first = await ready()
  expect(first.sandbox).toEqual({
    api: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/),
    console: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/console#key=prs_test_/),
    key: expect.stringMatching(/^prs_test_/),
    partner_id: 1,
    temporal_ui: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    temporal_address: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    temporal_namespace: 'default',
    database_url: expect.stringMatching(/^postgresql:/),
  })
  const leadId = await first.createLead()

  const before = started()
  expect(programs(before)).toEqual(
    expect.arrayContaining(
      [/postgres -D/, /server start-dev/, /src\/server\.ts/, /src\/worker\.ts/].map((name) =>
        expect.stringMatching(name),
      ),
    ),
  )
  await end('SIGKILL')
  const third = await ready()
  await until(async () => areGone(before))
  expect(third.sandbox).toMatchObject({ key: first.sandbox.key, partner_id: 1 })
  expect((await third.post('get-lead', { lead_id: leadId })).status).toBe(200)

  const after = started()
  expect(after).toHaveLength(before.length)
  expect(await end('SIGINT')).toBe(0)
  await until(async () => areGone(after))
}, 180_000)
