import { beforeAll, describe, expect, it } from '@jest/globals'
import { setEndpoint } from '../../src/core/endpoints/statements/endpoint.ts'
import { type Answer, type Api, type ApiPartner, prepareApi } from './api.ts'

describe('a quota', () => {
  let api: Api
  let partner: ApiPartner
  beforeAll(async () => {
    api = await prepareApi({ rateLimit: 1000 })
    partner = await api.addPartner()
    await setEndpoint(api.sql, partner.id, { url: 'https://lender.example/now', secret: () => 'unused' })
  })

  /** What a response shows beside the rate of requests. */
  const shown = ({ headers }: Answer) => {
    const [policy, others] = [headers['ratelimit-policy'], headers['ratelimit']].map((value) =>
      String(value).split(', '),
    )
    expect(policy?.[0]).toBe('"default";q=1000;w=60')
    expect(others?.[0]).toMatch(/^"default";r=\d+;t=\d+$/)
    return [...(policy?.slice(1) ?? []), ...(others?.slice(1) ?? [])]
  }
  const erase = async () => partner.post('erase-lead', { lead_id: await partner.createLead() })

  it('is shown beside the rate on each erasure that counts, and when there is none left', async () => {
    const policy = '"erasures";q=20;w=86400'
    const first = await erase()
    expect([first.status, ...shown(first)]).toEqual([200, policy, '"erasures";r=19;t=86400'])
    const again = await partner.post('erase-lead', first.body.data)
    expect(again.status).toBe(400)
    const repeat = await partner.post('erase-lead', { lead_id: first.body.data.lead_id })
    expect([repeat.status, ...shown(repeat)]).toEqual([200])
    for (let left = 18; left >= 0; left -= 1) {
      const [, state] = shown(await erase())
      expect(state).toMatch(new RegExp(`^"erasures";r=${left};t=(86400|863\\d\\d)$`))
    }
    const none = await erase()
    const seconds = none.headers['retry-after']
    expect([none.status, ...shown(none)]).toEqual([429, policy, `"erasures";r=0;t=${seconds}`])
  })

  it('is shown on each change of the endpoint that counts, and when there is none left', async () => {
    const policy = '"endpoint-actions";q=30;w=3600'
    const act = (index: number) => partner.post(index % 2 === 0 ? 'pause-endpoint' : 'resume-endpoint', {})
    for (let index = 0; index < 30; index += 1) {
      const answer = await act(index)
      const [shownPolicy, state] = shown(answer)
      expect([answer.status, shownPolicy]).toEqual([200, policy])
      expect(state).toMatch(new RegExp(`^"endpoint-actions";r=${29 - index};t=1(20|1\\d|0\\d)$`))
    }
    // it is active already: that changes nothing, and costs nothing
    const nothing = await partner.post('resume-endpoint', {})
    expect([nothing.status, ...shown(nothing)]).toEqual([200])
    const none = await act(30)
    const seconds = none.headers['retry-after']
    expect([none.status, ...shown(none)]).toEqual([429, policy, `"endpoint-actions";r=0;t=${seconds}`])
  })

  it('that another call uses is not shown', async () => {
    expect(shown(await partner.post('list-leads', {}))).toEqual([])
  })
})
