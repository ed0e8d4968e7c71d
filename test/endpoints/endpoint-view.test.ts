import { beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import type { Sql } from '../../src/database/sql.ts'
import { beginProbe, reviewEndpoint } from '../../src/endpoints/endpoint-review.ts'
import { viewOf } from '../../src/endpoints/get-endpoint.ts'
import { columnsOf, lockEndpoint } from '../../src/endpoints/endpoint.ts'
import { addSecret } from '../../src/endpoints/secrets.ts'
import { switchAsStaff, switchAsPartner } from '../../src/endpoints/switch-endpoint.ts'
import { formatTimestamp, HOUR_MS } from '../../src/values.ts'
import { addAttempts } from '../support/attempts.ts'
import { pauseEndpoint, resumeEndpoint } from '../support/endpoint-states.ts'
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
  const setUrl = () => switchAsStaff(sql, partnerId, { url: ADDRESS, secret: () => '' })
  const changeOver = () =>
    sql.transaction().execute(async (trx) => {
      const endpoint = await lockEndpoint(trx, partnerId)
      await switchAsPartner(trx, endpoint, {
        url: ADDRESS,
        secretId: await addSecret(trx, partnerId, () => ''),
      })
    })

  it.each([
    ['staff set it', 'active', () => setUrl()],
    ['it was certified', 'active', () => changeOver()],
    [
      'it was certified while staff had paused it',
      'paused',
      async () => {
        await pauseEndpoint(sql, partnerId)
        await changeOver()
      },
    ],
  ])(
    'has what came of attempts since the URL is the current one, pauses or not: %s',
    async (_, health, change) => {
      const attempt = async (more: { errorCode?: string; inProgress?: true }) => {
        const { round } = await sql.selectFrom('endpoints').select('round').executeTakeFirstOrThrow()
        return addAttempts(sql, partnerId, [{ round, ...more }])
      }
      const NONE = { last_success_at: null, last_error: null }
      await sql.transaction().execute((trx) => insertLead(trx, partnerId, LEAD, () => '{}'))
      await setUrl()
      await attempt({ errorCode: 'timeout' })
      expect(await view()).toMatchObject({ ...NONE, last_error: { error_code: 'timeout' } })
      await change()
      await attempt({ errorCode: 'interrupted' })
      await attempt({ inProgress: true })
      expect(await view()).toMatchObject({ ...NONE, health })
      await attempt({})
      await pauseEndpoint(sql, partnerId)
      await resumeEndpoint(sql, partnerId)
      await attempt({ errorCode: 'dns_error' })
      expect(await view()).toMatchObject({
        last_success_at: expect.any(String),
        last_error: { error_code: 'dns_error' },
        open_deliveries: 1,
      })
    },
  )

  it('that the service pauses is probed after 1, 2, 4, 8 and 16 hours, then once a day, until somebody pauses or resumes it', async () => {
    const HOURS = [1, 2, 4, 8, 16, 24, 24]
    const planned = async () => {
      const { nextProbeAt } = await reviewEndpoint(sql, partnerId)
      const shown = (await view()).next_probe_at
      expect(shown).toBe(nextProbeAt && formatTimestamp(new Date(nextProbeAt)))
      return nextProbeAt && Math.round((nextProbeAt - Date.now()) / HOUR_MS)
    }
    await setUrl()
    for (const change of [pauseEndpoint, resumeEndpoint, setUrl]) {
      await sql.updateTable('endpoints').set(columnsOf('gone')).execute()
      for (const hours of HOURS) {
        expect(await planned()).toBe(hours)
        await sql
          .updateTable('endpoints')
          .set({ since: raw<Date>`since - ${hours} * interval '1 hour'` })
          .execute()
        await beginProbe(sql, partnerId)
      }
      await change(sql, partnerId)
      await beginProbe(sql, partnerId)
      expect(await planned()).toBeNull()
    }
  })
})
