import { beforeEach, describe, expect, it } from '@jest/globals'
import type { Sql } from '../../src/database/sql.ts'
import { reviewEndpoint, setNextProbe } from '../../src/endpoints/endpoint-review.ts'
import { viewOf } from '../../src/endpoints/endpoint-view.ts'
import { findEndpoint, lockEndpoint } from '../../src/endpoints/endpoint.ts'
import { addSecret } from '../../src/endpoints/secrets.ts'
import { setEndpoint, switchAsPartner } from '../../src/endpoints/switch-endpoint.ts'
import { addAttempts } from '../support/attempts.ts'
import { pauseEndpoint, putEndpoints, resumeEndpoint } from '../support/endpoint-states.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD } from '../support/leads.ts'
import { openDatabase } from '../support/open-database.ts'

const ADDRESS = 'https://lender.example/webhooks'

describe('an endpoint, as it is shown', () => {
  let sql: Sql
  let partnerId: number

  beforeEach(async () => {
    ;({ sql, partnerId } = await openDatabase())
  })

  const view = () => viewOf(sql, partnerId)
  const setUrl = () => setEndpoint(sql, partnerId, { url: ADDRESS, secret: () => '' })
  const changeOver = () =>
    sql.transaction().execute(async (trx) => {
      const endpoint = await lockEndpoint(trx, partnerId)
      await switchAsPartner(trx, endpoint, {
        url: ADDRESS,
        secretId: await addSecret(trx, endpoint.id, () => ''),
      })
    })

  it.each([
    ['staff set it', () => setUrl()],
    ['it was certified', () => changeOver()],
    [
      'it was certified while staff had paused it',
      async () => {
        await pauseEndpoint(sql, partnerId)
        await changeOver()
      },
    ],
  ])('has what came of attempts since the URL is the current one, pauses or not: %s', async (_, change) => {
    const attempt = async (more: { errorCode?: string; inProgress?: true }) => {
      const { revision } = await sql.selectFrom('endpoints').select('revision').executeTakeFirstOrThrow()
      return addAttempts(sql, partnerId, [{ revision, ...more }])
    }
    const NONE = { last_success_at: null, last_error: null }
    await sql.transaction().execute((trx) => insertLead(trx, partnerId, LEAD, () => '{}'))
    await setUrl()
    await attempt({ errorCode: 'timeout' })
    expect(await view()).toMatchObject({ ...NONE, last_error: { error_code: 'timeout' } })
    await change()
    await attempt({ errorCode: 'interrupted' })
    await attempt({ inProgress: true })
    expect(await view()).toMatchObject(NONE)
    await attempt({})
    await pauseEndpoint(sql, partnerId)
    await resumeEndpoint(sql, partnerId)
    await attempt({ errorCode: 'dns_error' })
    expect(await view()).toMatchObject({
      last_success_at: expect.any(String),
      last_error: { error_code: 'dns_error' },
      open_deliveries: 1,
    })
  })

  it('has a next probe only in the pause by the service that it was planned for', async () => {
    const at = new Date('2026-03-09T11:30:00.250Z')
    const { id } = await findEndpoint(sql, partnerId)
    const review = async () => (await reviewEndpoint(sql, id))!
    const planned = async () => [(await view()).next_probe_at, (await review()).nextProbeAt]
    await setUrl()
    for (const change of [pauseEndpoint, resumeEndpoint, setUrl]) {
      await putEndpoints(sql, 'paused', { by: 'service' })
      const { since } = await review()
      await setNextProbe(sql, id, since, at)
      expect(await planned()).toEqual(['2026-03-09 11:30:00', at.getTime()])
      await change(sql, partnerId)
      await setNextProbe(sql, id, since, at)
      expect(await planned()).toEqual([null, null])
    }
    await putEndpoints(sql, 'paused', { by: 'staff' })
    await setNextProbe(sql, id, (await review()).since, at)
    expect(await planned()).toEqual([null, null])
  })
})
