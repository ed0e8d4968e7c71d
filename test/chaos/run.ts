import { randomBytes, randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  collectAccounts,
  collectForeign,
  collectRecord,
  collectViews,
  collectWorkflows,
  searchFiles,
} from './collect.ts'
import { deploy, type Deployment } from './deployment.ts'
import type { Call, Evidence, WebhookRequest } from './evidence.ts'
import { planFaults } from './fault-plan.ts'
import { injectFaults } from './inject.ts'
import { startLoad } from './load.ts'
import { type Canaries, loadMsOf, planLeads } from './load-plan.ts'
import { partnerApi } from './partner-api.ts'
import { startEndpointChanges } from './endpoint-changes.ts'
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

interface Options {
  seed: number
  leads: number
  /** The folder with the product's sources. */
  product: string
  report: (line: string) => void
}

/** Starts the service, loads it while faults go on, heals them, waits until nothing is pending, and collects what is left. */
export async function run({ seed, leads: count, product, report }: Options): Promise<Outcome> {
  const ends: string[] = []
  const calls: Call[] = []
  const requests: WebhookRequest[] = []
  const over = new AbortController()
  const canaries = {
    mark: `canary${randomBytes(5).toString('hex')}`,
    phone: `+1 555-${randomInt(10_000, 99_999)}-`,
  }
  const plan = { leads: planLeads(seed, count, canaries), faults: planFaults(seed, loadMsOf(count)) }
  report('starting PostgreSQL, Temporal, two API processes and two workers …')
  const deployment = await deploy(product, (name, reason) => ends.push(`${name}: ${reason}`))
  const { sql, client, apiPorts } = deployment
  const { partners, heal: healEndpoints } = await addPartners(deployment, seed, requests)
  await deployment.startServices()

  const loadMs = loadMsOf(count)
  report(`${count} leads and ${plan.faults.length} faults in ${Math.round(loadMs / 1000)} s …`)
  const api = partnerApi(apiPorts, calls, over.signal)
  const load = startLoad(plan.leads, { partners, api, send: createSender(client, over.signal) })
  const changes = startEndpointChanges(partners, api, loadMs)
  const faults = injectFaults(plan.faults, deployment)
  await delay(loadMs)

  report('healing everything, and waiting until nothing is pending …')
  await faults.heal()
  healEndpoints()
  const sent = Promise.all([load.done, changes])
  const { tookMs, left } = await settle({ sql, api, partners, leads: load.leads, sent })
  over.abort()
  await sent

  report('collecting what is left …')
  const { leads, reads } = load
  const reader = partnerApi(apiPorts, calls, AbortSignal.timeout(120_000))
  const workflows = await collectWorkflows(client)
  const evidence: Omit<Evidence, 'search'> = {
    leads,
    calls,
    reads,
    requests,
    faults: faults.journal,
    record: await collectRecord(sql),
    views: await collectViews(leads, partners, reader),
    foreign: await collectForeign(leads, partners, reader),
    accounts: await collectAccounts(client, leads),
    workflows,
    ends,
  }
  await deployment.temporal.kill()
  const files = [...deployment.temporal.dataFiles(), ...deployment.logs]
  const search = searchFiles(
    files,
    secretsOf(deployment, partners, canaries),
    workflows[0]?.workflowId ?? 'none',
  )
  return { evidence: { ...evidence, search }, loadMs, settledMs: tookMs, left }
}

/** What must stay where it was given. */
function secretsOf(
  { encryptionKey }: Deployment,
  partners: ChaosPartner[],
  { mark, phone }: Canaries,
): Record<string, string> {
  return {
    'a borrower': mark,
    'a phone number': phone,
    'the encryption key': encryptionKey.toString('base64'),
    ...Object.fromEntries(partners.map(({ id, key }) => [`the key of partner ${id}`, key])),
    ...Object.fromEntries(
      partners.flatMap(({ id, secrets }) =>
        secrets.map(({ secret }, index) => [`secret ${index + 1} of partner ${id}`, secret]),
      ),
    ),
  }
}
