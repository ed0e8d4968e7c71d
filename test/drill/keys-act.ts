import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { runToEnd } from '../support/processes.ts'
import { until } from '../support/until.ts'
import type { Disaster, Ground } from './rehearse.ts'
import type { Stack } from './stack.ts'

const nothing = { mayLose: { leads: false, milestones: false }, isWatched: false }
/** How long nobody notices. */
const UNNOTICED_MS = 1500
/** What docs/operations/keys.md promises of a revoked key. */
const REVOKED_WITHIN_MS = 1100

/** Keys that are wrong, and a key that somebody else has. */
export function keyDisasters({ stack }: Ground): Disaster[] {
  return [wrongForAll(stack), wrongForOne(stack), leaked(stack)]
}

const newKey = () => randomBytes(32).toString('base64')

/** The API and the worker are started with another key. */
function wrongForAll(stack: Stack): Disaster {
  const { service, running } = stack
  const wrong = { ENCRYPTION_KEY: newKey() }
  return {
    ...nothing,
    name: 'API and worker with a wrong ENCRYPTION_KEY',
    leadUp: () => delay(2000),
    strike: async () => {
      await Promise.all([running.api.stop(), running.worker.stop()])
      const [api, refused] = await Promise.all([
        service.startApi(wrong),
        runToEnd('src/worker.ts', { ...service.environment, ...wrong }),
      ])
      running.api = api
      await delay(UNNOTICED_MS)
      if (refused.code !== 1 || !refused.stderr.startsWith('ENCRYPTION_KEY lacks the key'))
        throw new Error(`the worker ended with ${refused.code}: ${refused.stderr}`)
      const { status } = await stack.call('list-leads', {})
      if (status !== 503) throw new Error(`the API answered ${status}`)
      return `the API: ${status}; the worker: ${refused.stderr.trim()}`
    },
    recover: async () => {
      await running.api.stop()
      ;[running.api, running.worker] = await Promise.all([service.startApi(), service.startWorker()])
    },
  }
}

/** Staff replace a signing secret with a newer key than API and worker have. */
function wrongForOne(stack: Stack): Disaster {
  const { service, running, partner } = stack
  const { ENCRYPTION_KEY: right } = service.environment
  const wrong = newKey()
  const line = 'its signing secret cannot be decrypted'
  const staff = (...args: string[]) => stack.staff('endpoint', ...args)
  return {
    ...nothing,
    alerts: ['WebhookCannotBeSigned'],
    name: 'a secret replaced with a wrong ENCRYPTION_KEY',
    leadUp: () => delay(2000),
    strike: async () => {
      const environment = { ...service.environment, ENCRYPTION_KEY: `${wrong},${right}` }
      const rotate = ['endpoint', 'rotate-secret', String(partner.id), '--as', 'drill']
      const { code, stderr } = await runToEnd('src/staff.ts', environment, rotate)
      if (code !== 0) throw new Error(stderr)
      await until(async () => running.worker.output().includes(line))
      await delay(UNNOTICED_MS)
      return `the worker: … ${line} …`
    },
    recover: async () => {
      service.environment.ENCRYPTION_KEY = `${right},${wrong}`
      await running.worker.stop()
      running.worker = await service.startWorker()
      // which wakes the leads; else they look once a minute
      await staff('pause', String(partner.id))
      await staff('resume', String(partner.id))
    },
  }
}

/** Somebody has a key of the partner, reads, pauses the endpoint, and asks for another URL. */
function leaked(stack: Stack): Disaster {
  const { call, staff, service, partner } = stack
  const id = String(partner.id)
  let leakedId = ''
  let header = { authorization: '' }
  return {
    ...nothing,
    name: 'a leaked API key',
    leadUp: async () => {
      const { key, key_id } = await staff('key', 'issue', id)
      leakedId = String(key_id)
      header = { authorization: `Service-Key ${String(key)}` }
      await delay(1000)
    },
    strike: async () => {
      const listed = await call('list-leads', {}, header)
      const [first] = listed.body.data as { lead_id: number }[]
      const asked = [
        listed,
        await call('get-lead', { lead_id: first?.lead_id }, header),
        await call('set-endpoint', { url: 'http://127.0.0.1:9/stolen' }, header),
        await call('pause-endpoint', {}, header),
      ]
      await delay(UNNOTICED_MS)
      return `with the leaked key: ${asked.map(({ status }) => status).join(', ')}`
    },
    recover: async () => {
      const revoked = staff('key', 'revoke', leakedId)
      const atMs = Date.parse(String((await revoked).revoked_at))
      await until(async () => (await call('list-leads', {}, header)).status === 401)
      const afterMs = Date.now() - atMs
      const { key } = await staff('key', 'issue', id)
      const withNew = await call('list-leads', {}, { authorization: `Service-Key ${String(key)}` })
      const { rows } = await auditOf(service.sql, leakedId)
      const { leads, reads } = await staff('access', 'report', '--key', leakedId)
      await staff('endpoint', 'cancel-change', id)
      await staff('endpoint', 'resume', id)
      if (afterMs > REVOKED_WITHIN_MS) throw new Error(`the key worked for ${afterMs} ms`)
      if (withNew.status !== 200) throw new Error(`the new key got ${withNew.status}`)
      if (leads !== 1 || reads !== 1)
        throw new Error(`the report has ${String(leads)} leads and ${String(reads)} reads`)
      return `401 at most ${afterMs} ms after it was revoked; the audit has ${rows.join(', ')}; it read the data of 1 lead`
    },
  }
}

async function auditOf(sql: Stack['service']['sql'], keyId: string) {
  const rows = await sql
    .selectFrom('audit')
    .select('action')
    .where('actor', '=', `key ${keyId}`)
    .orderBy('id')
    .execute()
  return { rows: rows.map(({ action }) => action) }
}
