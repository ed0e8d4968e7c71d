import { expect, it } from '@jest/globals'
import { addSecret, signWith } from '../../src/endpoints/secrets.ts'
import { sealing } from '../../src/seal.ts'
import { generateSecret } from '../../src/webhooks/signature.ts'
import { prepareDelivering } from '../support/delivering.ts'
import { startPartnerEndpoint } from '../support/partner-endpoint.ts'
import { testKeys } from '../support/test-keys.ts'

it('an attempt goes to the URL of its secret, while both are changed and after that', async () => {
  const { sql, endpoint, partnerId, deliver, commitLead } = await prepareDelivering()
  const next = await startPartnerEndpoint()
  next.secret = generateSecret()
  const secret = sealing(next.secret, testKeys)
  // the first success writes to the endpoint
  await deliver(await commitLead(), 1, 'scheduled')
  endpoint.arrivals.length = 0
  await sql.transaction().execute(async (trx) => {
    await trx.updateTable('endpoints').set({ url: next.url }).execute()
    expect(await deliver(await commitLead(), 1, 'scheduled')).toMatchObject({ outcome: 'delivered' })
    await signWith(trx, partnerId, await addSecret(trx, partnerId, secret))
    expect(await deliver(await commitLead(), 1, 'scheduled')).toMatchObject({ outcome: 'delivered' })
  })
  expect(await deliver(await commitLead(), 1, 'scheduled')).toMatchObject({ outcome: 'delivered' })
  expect(endpoint.arrivals.map(({ verified }) => verified)).toEqual([true, true])
  expect(next.arrivals.map(({ verified }) => verified)).toEqual([true])
})
