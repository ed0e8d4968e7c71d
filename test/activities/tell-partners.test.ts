import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { createMailer } from '../../activities/mailer.ts'
import { restoreActivities } from '../../activities/restore/restore.ts'
import type { Sql } from '../../src/core/database/orm.ts'
import { addPartner } from '../../src/core/partners/statements/partner.ts'
import { DAY_MS } from '../../src/core/values/durations.ts'
import { createLogger } from '../../src/logger.ts'
import { fillDeliveries } from '../support/deliveries.ts'
import { startMailServer } from '../support/mail-server.ts'
import { tryActivity } from '../support/try-activity.ts'
import { openDatabase } from '../support/open-database.ts'
import { until } from '../support/until.ts'

const GENERATION = 2
const STAFF = 'staff@service.example'
const CONTACTS = ['one@lender.example', 'two@lender.example', 'three@lender.example'] as const

describe('telling partners that the record was restored', () => {
  let sql: Sql
  let mailServer: Awaited<ReturnType<typeof startMailServer>>
  let tellPartners: (generation: number) => Promise<number>

  beforeAll(async () => {
    const database = await openDatabase()
    ;({ sql } = database)
    mailServer = await startMailServer()
    const ids = [database.partnerId]
    for (const name of ['Second Lender', 'Third Lender'])
      ids.push((await addPartner(database.orm.em.fork(), { name })).id)
    for (const [index, id] of ids.entries()) {
      const contact = { contact_email: CONTACTS[index] ?? null }
      await sql.updateTable('partners').set(contact).where('id', '=', id).execute()
      await fillDeliveries(sql, id, 1, 'delivered')
    }
    await sql.insertInto('restores').values({ generation: GENERATION, cause: 'staff' }).execute()
    const activities = restoreActivities({
      sql,
      async *leadsActiveSince() {},
      takeOver: async () => true,
      mailer: createMailer({
        environment: 'production',
        deployment: 'test',
        smtpUrl: mailServer.url,
        isCatcher: false,
        from: 'service@service.example',
        allowDomains: [],
      }),
      staffEmail: STAFF,
      log: createLogger('silent', 'worker'),
      heartbeatMs: 50,
    })
    tellPartners = async (restored) => activities.tellPartners(restored)
  })

  beforeEach(() => {
    mailServer.refusing = false
    mailServer.mails.length = 0
  })

  const mailed = (address: string) => mailServer.mails.filter(({ to }) => to === address).length
  /** A try, which knows what earlier ones have said of themselves. */
  const attempt = ({ said, agoMs = 0 }: { said?: unknown; agoMs?: number } = {}) =>
    tryActivity(tellPartners, GENERATION, {
      heartbeatDetails: said,
      scheduledTimestampMs: Date.now() - agoMs,
    })

  it('tells each, and staff of each', async () => {
    expect(await attempt()).toMatchObject({ count: 3 })
    expect([...CONTACTS, STAFF].map(mailed)).toEqual([1, 1, 1, 3])
  })

  it('tells the others if one’s address is refused, and that one later, and nobody twice', async () => {
    mailServer.refusing = [CONTACTS[0]]
    const first = await attempt()
    expect(first).toMatchObject({ error: 'partners that could not be told by email: 1' })
    const second = await attempt(first)
    expect(second).toMatchObject({ error: 'partners that could not be told by email: 1' })
    expect([...CONTACTS, STAFF].map(mailed)).toEqual([0, 1, 1, 3])
    mailServer.refusing = false
    expect(await attempt(second)).toMatchObject({ count: 3 })
    expect([...CONTACTS, STAFF].map(mailed)).toEqual([1, 1, 1, 3])
  })

  it('says that it lives while a mail server is slow, and mails nobody once another attempt has begun', async () => {
    const answering = Promise.withResolvers<void>()
    mailServer.answering = answering.promise
    const environment = new MockActivityEnvironment()
    const said: unknown[] = []
    environment.on('heartbeat', (details: unknown) => said.push(details))
    const telling = environment.run(tellPartners, GENERATION).catch((error: unknown) => error)
    await until(async () => mailed(CONTACTS[0]) === 1 && said.length > 1)
    // whoever goes on from there mails this one again, and has told nobody
    expect(said.at(-1)).toMatchObject({ told: 0, left: [[expect.any(Number), []]] })
    environment.cancel()
    answering.resolve()
    expect(await telling).toBeInstanceOf(Error)
    expect(CONTACTS.map(mailed)).toEqual([1, 0, 0])
    mailServer.answering = Promise.resolve()
    await attempt({ said: said.at(-1) })
    expect([...CONTACTS, STAFF].map(mailed)).toEqual([1, 1, 1, 3])
  })

  it('goes on without an address that was refused for a day, and tells all whatever becomes of staff’s', async () => {
    mailServer.refusing = [CONTACTS[1], STAFF]
    expect(await attempt({ agoMs: DAY_MS })).toMatchObject({ count: 2 })
    expect([...CONTACTS, STAFF].map(mailed)).toEqual([1, 0, 1, 0])
  })
})
