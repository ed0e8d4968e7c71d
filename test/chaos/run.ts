import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { collectRecord, collectViews, collectWorkflows, searchFiles } from './collect.ts'
import { deploy } from './deployment.ts'
import type { Call, Evidence, InjectedFault, WebhookRequest } from './evidence.ts'
import { planFaults, type PlanOptions } from './fault-plan.ts'
import { followEvents } from './follow.ts'
import { injectFaults } from './inject.ts'
import { startLoad } from './load.ts'
import { planLeads } from './load-plan.ts'
import { partnerApi } from './partner-api.ts'
import { addPartners, startEndpointChanges } from './partners.ts'
import { settle } from './settle.ts'

export interface Outcome {
  evidence: Evidence
  /** How long the load took, and how long after it everything was settled, in milliseconds. */
  loadMs: number
  settledMs: number
  /** What was left to do when the wait for it ended. */
  left: number
}

type Options = PlanOptions & { seed: number; leads: number }

/** How long reading everything at the end may take. */
const LONGEST_READ_MS = 120_000

const report = (line: string) => process.stderr.write(`${line}\n`)

/** Starts the service, loads it while faults go on, heals them, waits until nothing is pending, and collects what is left. */
export async function run({ seed, leads: count, ...options }: Options): Promise<Outcome> {
  const ends: string[] = []
  const calls: Call[] = []
  const requests: WebhookRequest[] = []
  const faults: InjectedFault[] = []
  const over = new AbortController()
  const mark = `canary${randomBytes(5).toString('hex')}`
  const plan = planFaults(seed, count, options)
  const { loadMs, createMs, planned, random } = plan
  report('starting PostgreSQL, Temporal, two API processes and two workers …')
  const deployment = await deploy(options.clock, (name, reason) => ends.push(`${name}: ${reason}`))
  const { sql, client, apiPorts, temporal, logs } = deployment
  const { partners, conditions } = await addPartners(deployment, seed, requests)
  await deployment.startServices()

  report(`${count} leads and ${planned.length + random.length} faults in ${Math.round(loadMs / 1000)} s …`)
  const ask = partnerApi(apiPorts, calls, over.signal)
  const load = startLoad(planLeads(seed, count, createMs, mark), {
    partners,
    ask,
    client,
    signal: over.signal,
  })
  const { leads, reads } = load
  const changes = startEndpointChanges(partners, ask, loadMs)
  const { feeds, end: endFeeds } = followEvents(partners, ask)
  const { acted, heal } = injectFaults(plan, { deployment, conditions, leads, faults })
  await Promise.all([delay(loadMs), acted])

  report('healing everything, and waiting until nothing is pending …')
  await heal()
  conditions.healed = true
  const sent = Promise.all([load.done, changes])
  const { tookMs, left } = await settle({ sql, ask, partners, leads, sent })
  await Promise.race([endFeeds(), delay(LONGEST_READ_MS)])
  over.abort()
  await sent

  report('collecting what is left …')
  const reader = partnerApi(apiPorts, calls, AbortSignal.timeout(LONGEST_READ_MS))
  const evidence: Omit<Evidence, 'search'> = {
    leads,
    calls,
    feeds,
    reads,
    requests,
    faults,
    record: await collectRecord(sql),
    views: await collectViews(leads, reader),
    workflows: await collectWorkflows(client),
    ends,
  }
  await temporal.kill()
  // secrets that must not be in any file
  const secrets = {
    'a borrower': mark,
    'the encryption key': deployment.encryptionKey.toString('base64'),
    ...Object.fromEntries(partners.map(({ id, key }) => [`the key of partner ${id}`, key])),
    ...Object.fromEntries(
      partners.map(({ id, endpoint }) => [`the secret of partner ${id}`, endpoint.secret]),
    ),
  }
  const files = [...temporal.dataFiles(), ...Object.values(logs)]
  return { evidence: { ...evidence, search: searchFiles(files, secrets) }, loadMs, settledMs: tookMs, left }
}
