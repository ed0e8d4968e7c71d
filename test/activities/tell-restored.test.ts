import { expect, it } from '@jest/globals'
import { tellRestored } from '../../activities/compare-with-record.ts'
import { addPartner } from '../../src/partners/partner.ts'
import { raiseEpoch, requireDeployment } from '../../src/database/deployment.ts'
import { createLogger } from '../../src/observe/log.ts'
import { fillDeliveries } from '../support/deliveries.ts'
import { startMailServer } from '../support/mail-server.ts'
import { mailerTo } from '../support/mailer.ts'
import { openDatabase } from '../support/open-database.ts'

const CONTACTS = ['one@lender.example', 'two@lender.example'] as const

it('tells each partner that has leads of a restore, once, and later one whose address is refused', async () => {
  const { sql, partnerId } = await openDatabase()
  await requireDeployment(sql, 'sandbox')
  const { id: second } = await addPartner(sql, { name: 'Second Lender' })
  const { id: withoutLeads } = await addPartner(sql, { name: 'Third Lender' })
  for (const [index, id] of [partnerId, second, withoutLeads].entries())
    await sql
      .updateTable('partners')
      .set({ contact_email: CONTACTS[index] ?? 'three@lender.example' })
      .where('id', '=', id)
      .execute()
  for (const id of [partnerId, second]) await fillDeliveries(sql, id, 1, 'delivered')
  const mailServer = await startMailServer()
  const mailer = mailerTo(mailServer.url)
  const tell = async () => {
    await tellRestored({ sql, mailer, log: createLogger('silent', 'worker') })
    return mailServer.mails.map(({ to }) => to)
  }
  expect(await tell()).toEqual([])
  await sql.transaction().execute((trx) => raiseEpoch(trx))
  mailServer.refusing = [CONTACTS[0]]
  expect(await tell()).toEqual([CONTACTS[1]])
  mailServer.refusing = false
  expect(await tell()).toEqual([CONTACTS[1], CONTACTS[0]])
  expect(await tell()).toHaveLength(2)
})
