import { setTimeout as delay } from 'node:timers/promises'
import { forgetAsked } from '../../src/deliveries/resends.ts'
import { fillDeliveries } from '../support/deliveries.ts'
import { putEndpoints } from '../support/endpoint-states.ts'
import { leadsOf } from '../support/leads.ts'
import { partnerCalls } from '../support/service.ts'
import { until } from '../support/until.ts'
import { atRate } from './milestones.ts'
import type { Deployment } from './servers.ts'
import { allInFlight, startSides } from './sides.ts'
import { figures, inTurn, percentile, type Row } from './table.ts'

const LEADS = 60
const PER_SECOND = 10
const SECONDS = 20
const ROUNDS = 5
/** A milestone takes less time than this on an idle machine. */
const CALM_MS = 140
const MOST_LOOKS = 60

const DUE = 1000
/** Each of a lead's webhooks waits for the one before it. */
const MILESTONES = ['client_account_created', 'credit_scan_completed', 'contract_signed', 'escrow_funded']
const RESENDS = 600

/** Another partner, whose endpoint takes connections and never answers. It is paused but for `trouble` to `rest`. */
interface Neighbour {
  trouble?(): Promise<void>
  /** Goes on while it is measured. */
  flood?(): Promise<void>
  rest(): Promise<void>
}

/** How one partner's webhooks are delayed by another's endpoint that hangs with a thousand of them due. */
export const besideHanging = () => beside(`a hanging endpoint, ${DUE} due`, 0.95, addHanging)

/** How one partner's webhooks are delayed by another that asks for 600 resends at once while its endpoint hangs. */
export const besideResends = () => beside(`${RESENDS} resends`, 0.5, addResending)

async function beside(
  what: string,
  share: number,
  addNeighbour: (deployment: Deployment) => Promise<Neighbour>,
): Promise<Row[]> {
  const sides = await startSides()
  const { service, deployment } = sides
  const leads = await service.begin(LEADS)
  const neighbour = await addNeighbour(deployment)
  const half = async () =>
    percentile(await atRate(service, leads, { perSecond: PER_SECOND, seconds: 3 }), 0.5)
  const measure = async (other: Neighbour | undefined) => {
    await other?.trouble?.()
    // hundreds of leads that are woken at a time keep two cores busy for a while
    for (let looks = 0; looks < MOST_LOOKS && (await half()) > CALM_MS; looks++);
    const load = atRate(service, leads, { perSecond: PER_SECOND, seconds: SECONDS })
    const [latencies] = await Promise.all([load, other?.flood?.()])
    await other?.rest()
    return latencies
  }
  const rounds = await inTurn({ floor: undefined, service: neighbour }, ROUNDS, measure)
  await sides.verify()
  return [
    {
      work: `milestone → webhook at ${PER_SECOND}/s beside ${what}, p${share * 100}`,
      unit: 'ms',
      ...figures(rounds, (latencies) => percentile(latencies, share)),
      aim: { to: 1.1 },
    },
  ]
}

async function addPaused(deployment: Deployment) {
  const partner = await deployment.addPartner()
  const { id, endpoint } = partner
  let requests = 0
  endpoint.answer = () => void (requests += 1)
  const put = (state: 'active' | 'paused') => putEndpoints(deployment.sql, state, { partnerId: id })
  await put('paused')
  return {
    partner,
    /** Answers requests from now on by taking them, until `rest`. */
    hang: async () => {
      requests = 0
      await put('active')
    },
    rest: async () => {
      await put('paused')
      await endpoint.close()
      await endpoint.open()
    },
    isAsked: () => until(async () => requests > 0),
  }
}

async function addHanging(deployment: Deployment): Promise<Neighbour> {
  const { client, sql } = deployment
  const { partner, hang, rest, isAsked } = await addPaused(deployment)
  const leads = leadsOf(deployment, partner)
  const handles: ReturnType<typeof client.workflow.getHandle>[] = []
  await allInFlight(Array.from({ length: DUE / (1 + MILESTONES.length) }), async () => {
    const handle = client.workflow.getHandle(`lead-${await leads.start()}`)
    handles.push(handle)
    for (const milestone of MILESTONES) await handle.signal(milestone)
  })
  const due = sql.selectFrom('deliveries').select('event_id').where('partner_id', '=', partner.id)
  while ((await due.execute()).length < DUE) await delay(200)

  const wakeAll = () => allInFlight(handles, (handle) => handle.signal('wake'))
  type Sending = { attempt?: number | null; lastStartedTime?: unknown } | undefined
  /** Of the activity that sends a lead's webhook, when there is one. */
  const allAre = (holds: (sending: Sending) => boolean) =>
    allInFlight(handles, async (handle) => {
      while (!holds((await handle.describe()).raw.pendingActivities?.[0])) await delay(200)
    })
  const isParked = (sending: Sending) => sending === undefined
  await allAre(isParked)
  return {
    /** Resolves once the endpoint has requests in flight, one once it let others time out, and all others stand back. */
    async trouble() {
      await hang()
      await wakeAll()
      await isAsked()
      await allAre((sending) => (sending?.attempt ?? 0) > 1 || Boolean(sending?.lastStartedTime))
    },
    async rest() {
      await rest()
      // what has failed, or found no place, would look at the endpoint again in minutes only
      await allInFlight(handles, async (handle) => {
        while ((await handle.describe()).raw.pendingActivities?.length) {
          await handle.signal('wake')
          await delay(200)
        }
      })
    },
  }
}

async function addResending(deployment: Deployment): Promise<Neighbour> {
  const { sql } = deployment
  const { partner, hang, rest, isAsked } = await addPaused(deployment)
  const api = await deployment.startApi()
  const { post } = partnerCalls(api.port, partner.key)
  const eventIds = await fillDeliveries(sql, partner.id, RESENDS, 'delivered')
  return {
    async flood() {
      await hang()
      await allInFlight(eventIds, async (event_id) => {
        const { status } = await post('resend-webhook', { event_id })
        if (status !== 200) throw new Error(`resend-webhook answered ${status}`)
      })
      await isAsked()
    },
    /** Takes what waits away. */
    async rest() {
      await rest()
      await forgetAsked(sql, partner.id)
    },
  }
}
