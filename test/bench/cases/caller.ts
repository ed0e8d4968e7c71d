import { setEndpoint } from '../../../src/endpoints/switch-endpoint.ts'
import { issueKey } from '../../../src/partners/keys.ts'
import { addPartner } from '../../../src/partners/partner.ts'
import { sealing } from '../../../src/seal.ts'
import { generateSecret } from '../../../src/webhooks/signature.ts'
import { putEndpoints } from '../../support/endpoint-states.ts'
import type { Deployment } from '../deployment.ts'
import { startReceiver } from '../receiver.ts'

/** A second partner with an endpoint that answers at once, and a key to call the API with. */
export async function addCaller(deployment: Deployment) {
  const { sql, orm, encryptionKeys } = deployment
  const receiver = await startReceiver()
  const { id } = await addPartner(orm.em.fork(), { name: 'Second Lender' })
  await setEndpoint(sql, id, { url: receiver.url, secret: sealing(generateSecret(), encryptionKeys) })
  await putEndpoints(sql, 'active', { partnerId: id })
  const { key } = await issueKey(orm.em.fork(), id, 'sandbox')
  const api = await deployment.startApi({ RATE_LIMIT: '0' })
  return {
    id,
    post: async (path: string, body: object) => {
      const { status } = await fetch(`http://127.0.0.1:${api.port}/v1/${path}`, {
        method: 'POST',
        headers: { authorization: `Service-Key ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      if (status !== 200 && status !== 429) throw new Error(`${path} answered ${status}`)
    },
    close: async () => {
      await api.stop()
      receiver.close()
    },
  }
}
