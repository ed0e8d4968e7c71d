import { beforeAll, describe, expect, it } from '@jest/globals'
import { CursorLostError, type FollowedEvent, Referrals } from '../../src/clients/typescript/src/index.ts'
import { anyPort } from '../support/any-port.ts'
import { leadsOf } from '../support/leads.ts'
import type { ServiceProcess } from '../support/processes.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { startBadNetwork } from './bad-network.ts'

const LEAD = { firstName: 'Ada', lastName: 'Miller', email: 'ada@example.com', phone: '555-0100' }

/** That are committed before and after each end of the API. */
const COMMITTED = 5
/** By the first test. */
const MADE = 2 * (2 + 2 * COMMITTED)

const networks: readonly [string, (origin: string) => Promise<string>][] = [
  ['directly', async (origin) => origin],
  [
    'through a bad network',
    async (origin) => (await startBadNetwork(origin, { seed: 4, share: 0.3, lateMs: 1_300 })).url,
  ],
]

let service: Service
let api: ServiceProcess
let port: number
const start = () => service.startApi({ PORT: String(port) })

beforeAll(async () => {
  ;[service, port] = [await prepareService(), await anyPort()]
  api = await start()
}, 60_000)

describe.each(networks)('a client that follows the feed %s', (_name, reach) => {
  let partner: TestPartner
  let client: Referrals
  let baseUrl: string

  beforeAll(async () => {
    partner = await service.addPartner()
    baseUrl = `${await reach(`http://127.0.0.1:${port}`)}/v1`
    client = new Referrals({ apiKey: partner.key, baseUrl, timeoutMs: 1_000 })
  })

  it('gets each event once and in order, while the API is stopped, killed and started again', async () => {
    const { commit } = leadsOf(service, partner)
    const made: number[] = []
    const seen: FollowedEvent[] = []
    const stop = new AbortController()
    const news = Promise.withResolvers<void>()
    const following = (async () => {
      for await (const event of client.events.follow({ signal: stop.signal })) {
        seen.push(event)
        if (seen.length === MADE) news.resolve()
      }
    })()
    const commitSome = async () => {
      for (let count = 0; count < COMMITTED; count += 1) made.push(await commit())
    }
    for (const end of ['stop', 'kill'] as const) {
      made.push((await client.leads.create(LEAD)).leadId)
      await commitSome()
      await api[end]()
      await commitSome()
      api = await start()
      made.push((await client.leads.create(LEAD)).leadId)
    }
    await news.promise
    stop.abort()
    await following
    expect(seen.map(({ leadId }) => leadId)).toEqual(made)
    expect(
      seen.every(({ eventName, createdAt }) => eventName === 'lead_received' && createdAt instanceof Date),
    ).toBe(true)
  })

  it('goes on after the event whose place was stored, in the middle of a page', async () => {
    const all: FollowedEvent[] = []
    for await (const event of client.events.follow()) if (all.push(event) === MADE) break
    const rest: FollowedEvent[] = []
    for await (const event of client.events.follow({ after: all[3]?.place }))
      if (rest.push(event) === MADE - 4) break
    expect(rest).toEqual(all.slice(4))
  })

  it('says where to go on when its place is not there any more', async () => {
    const lost = client.events.follow({ after: '1-1-1-1' }).next()
    const error = await lost.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(CursorLostError)
    const { place } = error as CursorLostError
    await expect(client.events.page({ after: place })).resolves.toMatchObject({ hasMore: false })
  })

  it('gives up when its key is refused', async () => {
    const stranger = new Referrals({ apiKey: 'prs_test_unknown', baseUrl })
    await expect(stranger.events.follow().next()).rejects.toMatchObject({ name: 'AuthFailedError' })
  })
})
