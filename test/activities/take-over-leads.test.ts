import { describe, expect, it } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { createMailer } from '../../activities/mailer.ts'
import { restoreActivities } from '../../activities/restore/restore.ts'
import { createLogger } from '../../src/logger.ts'
import { openDatabase } from '../support/open-database.ts'

describe('taking leads over after a restore', () => {
  it('is tried again where no workflow answers, but not forever: all of the few may be stuck', async () => {
    const { sql, partnerId } = await openDatabase()
    const { takeOverLeads } = restoreActivities({
      sql,
      async *leadsActiveSince() {
        yield { leadId: 1, partnerId }
        yield { leadId: 2, partnerId }
      },
      takeOver: async () => Promise.reject(new Error('deadline exceeded')),
      mailer: createMailer({
        environment: 'sandbox',
        deployment: 'test',
        smtpUrl: undefined,
        isCatcher: false,
        from: 'service@service.example',
        allowDomains: [],
      }),
      staffEmail: undefined,
      log: createLogger('silent', 'worker'),
    })
    const attempt = (number: number) =>
      new MockActivityEnvironment({ attempt: number }).run(async () => takeOverLeads())
    await expect(attempt(1)).rejects.toThrow('no workflow answers')
    await expect(attempt(11)).rejects.toThrow('no workflow answers')
    expect(await attempt(12)).toEqual({ looked: 2, unanswered: 2 })
  })
})
