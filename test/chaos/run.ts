import { randomBytes, randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { collectRecord, collectViews, collectWorkflows, searchFiles } from './collect.ts'
import { deploy, type Deployment } from './deployment.ts'
import { startEndpointChanges } from './endpoint-changes.ts'
import type { Call, Evidence, InjectedFault, WebhookRequest } from './evidence.ts'
import { planFaults, type PlanOptions } from './fault-plan.ts'
import { followEvents } from './follow.ts'
import { injectFaults } from './inject.ts'
import { startLoad } from './load.ts'
import { type Canaries, planLeads } from './load-plan.ts'
import { partnerApi } from './partner-api.ts'
import { addPartners, type ChaosPartner } from './partners.ts'
import { createSender } from './senders.ts'
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

/** Of all that is read in the end. */
const LONGEST_READ_MS = 120_000

const report = (line: string) => process.stderr.write(`${line}\n`)

/** Starts the service, loads it while faults go on, heals them, waits until nothing is pending, and collects what is left. */
export async function run({ seed, leads: count, ...options }: Options): Promise<Outcome> {
  const ends: string[] = []
  const calls: Call[] = []
  const requests: WebhookRequest[] = []
  const faults: InjectedFault[] = []
  const over = new AbortController()
  const phone = `+1 555-${randomInt(10_000, 99_999)}-`
  const canaries = { mark: `canary${randomBytes(5).toString('hex')}`, phone }
  const plan = planFaults(seed, count, options)
  const { loadMs, createMs, planned, random } = plan
  report('starting PostgreSQL, Temporal, two API processes and two workers …')
  const deployment = await deploy(options.clock, (name, reason) => ends.push(`${name}: ${reason}`))
  const { sql, client, apiPorts, temporal, logs } = deployment
  const { partners, conditions } = await addPartners(deployment, seed, requests)
  await deployment.startServices()

  report(`${count} leads and ${planned.length + random.length} faults in ${Math.round(loadMs / 1000)} s …`)
  const api = partnerApi(apiPorts, calls, over.signal)
  const send = createSender(client, over.signal)
  const load = startLoad(planLeads(seed, count, createMs, canaries), { partners, api, send })
  const { leads, reads } = load
  // a secret that a restore forgets would verify nothing
  const restoreMs = planned.find(({ kind }) => kind === 'restore')?.atMs
  const changes = startEndpointChanges(partners, api, restoreMs ?? loadMs)
  const { feeds, end: endFeeds } = followEvents(partners, api)
  const { acted, heal } = injectFaults(plan, { deployment, conditions, leads, faults })
  await Promise.all([delay(loadMs), acted])

  report('healing everything, and waiting until nothing is pending …')
  await heal()
  conditions.healed = true
  const sent = Promise.all([load.done, changes])
  const { tookMs, left } = await settle({ sql, api, partners, leads, sent })
  await Promise.race([endFeeds(), delay(LONGEST_READ_MS)])
  over.abort()
  await sent

  report('collecting what is left …')
  const reader = partnerApi(apiPorts, calls, AbortSignal.timeout(LONGEST_READ_MS))
  const workflows = await collectWorkflows(client)
  const evidence: Omit<Evidence, 'search'> = {
    leads,
    calls,
    feeds,
    reads,
    requests,
    faults,
    record: await collectRecord(sql),
    views: await collectViews(leads, reader),
    workflows,
    ends,
  }
  await temporal.kill()
  const files = [...temporal.dataFiles(), ...Object.values(logs)]
  const secrets = secretsOf(deployment, partners, canaries)
  const search = searchFiles(files, secrets, workflows[0]?.workflowId ?? 'none')
  return { evidence: { ...evidence, search }, loadMs, settledMs: tookMs, left }
}

/** What must stay where it was given. */
function secretsOf({ encryptionKey }: Deployment, partners: ChaosPartner[], { mark, phone }: Canaries) {
  const keys = partners.map(({ id, key }) => [`the key of partner ${id}`, key])
  const signing = partners.flatMap(({ id, secrets }) =>
    secrets.map(({ secret }, index) => [`secret ${index + 1} of partner ${id}`, secret]),
  )
  return {
    'a borrower': mark,
    'a phone number': phone,
    'the encryption key': encryptionKey.toString('base64'),
    ...Object.fromEntries([...keys, ...signing]),
  }
}
