import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, test } from '@jest/globals'
import { Client } from 'pg'
import { connect } from '../../src/core/database/orm.ts'
import type { Launched } from '../../src/embedded/launch.ts'
import { freePort } from '../../src/embedded/ports.ts'
import { startPostgres } from '../../src/embedded/postgres.ts'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'
import { until } from '../support/until.ts'

const folder = temporaryFolder()
const data = path.join(folder, 'data')
const logFile = path.join(folder, 'postgres.log')
const running: Launched[] = []
let port: number

beforeAll(async () => {
  port = await freePort(31_000)
})
atEnd(async () => {
  for (const { stop } of running) await stop()
})

async function start(password = 'secret') {
  const server = await startPostgres({ folder, port, password, logFile })
  running.push(server)
  return server
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const orm = await connect(url)
  try {
    return await orm.em.getConnection().execute(sql)
  } finally {
    await orm.close()
  }
}

test('makes a UTF-8 database that only its password opens', async () => {
  const { url, stop } = await start()
  const [facts] = await query(
    url,
    "select current_database(), current_setting('server_version') like '18.%' as is_18, current_setting('server_encoding') as encoding, lower('Ä')",
  )
  expect(facts).toEqual({ current_database: 'referrals', is_18: true, encoding: 'UTF8', lower: 'ä' })
  await expect(query(url.replace('secret', 'guess'), 'select 1')).rejects.toThrow('password')
  expect(statSync(data).mode & 0o077).toBe(0)
  await stop()
})

test('keeps what was committed before a SIGKILL', async () => {
  const killed = await start()
  await query(killed.url, 'create table kept as select 1 as one')
  process.kill(killed.pid, 'SIGKILL')
  await killed.ended
  const { url, stop } = await start()
  expect(await query(url, 'select * from kept')).toEqual([{ one: 1 }])
  await stop()
})

test('ends a statement that waits for a lock once its client is gone', async () => {
  const { url, stop } = await start()
  const connected = async () => {
    const client = new Client(url)
    await client.connect()
    return client
  }
  const [holding, lost, looking] = [await connected(), await connected(), await connected()]
  lost.on('error', () => {})
  await holding.query('begin; lock table kept')
  const waiting = lost.query('begin; lock table kept').catch(() => 'lost')
  const waiters = async () => {
    const { rowCount } = await looking.query(`select from pg_stat_activity where wait_event_type = 'Lock'`)
    return rowCount
  }
  await until(async () => (await waiters()) === 1)
  lost.connection.stream.destroy()
  expect(await waiting).toBe('lost')
  await until(async () => (await waiters()) === 0)
  await Promise.all([holding.end(), looking.end()])
  await stop()
})

test('takes over from a server that a killed start has left running', async () => {
  const left = await start()
  const { url, pid, stop } = await start()
  expect(pid).not.toBe(left.pid)
  expect(await query(url, 'select * from kept')).toEqual([{ one: 1 }])
  await stop()
})

test('starts although the pid in its lock file belongs to another program by now', async () => {
  const left = await start()
  const lock = readFileSync(path.join(data, 'postmaster.pid'), 'utf8')
  process.kill(left.pid, 'SIGKILL')
  await left.ended
  // a program of the system's: the other user may not be allowed to enter the folder of ours
  const stranger = spawn('sleep', ['300'], {
    cwd: '/',
    ...(process.getuid?.() === 0 && { uid: statSync(data).uid }),
  })
  await once(stranger, 'spawn')
  writeFileSync(path.join(data, 'postmaster.pid'), lock.replace(/^\d+/, String(stranger.pid)))
  const { stop } = await start()
  expect(stranger.exitCode ?? stranger.signalCode).toBeNull()
  stranger.kill()
  await stop()
})

test('says on one line why it cannot start', async () => {
  const { stop } = await start()
  const other = temporaryFolder()
  const second = startPostgres({ folder: other, port, password: 'x', logFile })
  await expect(second).rejects.toThrow(/^PostgreSQL ended while starting: .*FATAL.*$/)
  await stop()
})
