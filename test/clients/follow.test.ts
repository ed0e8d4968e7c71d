import { beforeAll, describe, expect, it } from '@jest/globals'
import { CursorLostError, type FollowedEvent, Referrals } from '../../src/clients/typescript/src/index.ts'
import { anyPort } from '../support/any-port.ts'
import { leadsOf } from '../support/leads.ts'
import type { ServiceProcess } from '../support/processes.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'

const LEAD = { firstName: 'Ada', lastName: 'Miller', email: 'ada@example.com', phone: '555-0100' }

/** By the first test. */
const MADE = 7

describe('a client that follows the feed', () => {
  let service: Service
  let partner: TestPartner
  let api: ServiceProcess
  let client: Referrals
  let port: number
  const start = () => service.startApi({ PORT: String(port) })

  beforeAll(async () => {
    ;[service, port] = [await prepareService(), await anyPort()]
    partner = await service.addPartner()
    api = await start()
    client = new Referrals({ apiKey: partner.key, baseUrl: `http://127.0.0.1:${port}/v1` })
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
    for (const end of ['stop', 'kill'] as const) {
      made.push((await client.leads.create(LEAD)).leadId, await commit())
      await api[end]()
      made.push(await commit())
      api = await start()
    }
    made.push((await client.leads.create(LEAD)).leadId)
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
    const stranger = new Referrals({ apiKey: 'prs_test_unknown', baseUrl: `http://127.0.0.1:${port}/v1` })
    await expect(stranger.events.follow().next()).rejects.toMatchObject({ name: 'AuthFailedError' })
  })
})
