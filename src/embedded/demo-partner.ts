import { setEndpoint } from '../db/endpoints/endpoint.ts'
import { findKeyOwner, hashOf, issueKey } from '../db/partners/keys.ts'
import { sqlOf, type Em, type Orm } from '../db/orm.ts'
import { addPartner } from '../db/partners/partner.ts'
import { sealing } from '../db/seal.ts'
import { generateSecret } from '../webhooks/secrets.ts'
import type { DemoPartner } from './data-directory.ts'

interface DemoOptions {
  /** The one of the previous start. */
  previous: DemoPartner | undefined
  endpointUrl: string
  encryptionKeys: readonly Buffer[]
}

/**
 * A partner with a valid sandbox key whose webhooks go to `endpointUrl`. The one of the previous start is kept while
 * its key is valid, with any endpoint that a tester has given it since.
 */
export async function provideDemoPartner(orm: Orm, options: DemoOptions): Promise<DemoPartner> {
  const { previous, endpointUrl, encryptionKeys } = options
  const sql = sqlOf(orm)
  const isValid = previous && typeof (await findKeyOwner(sql, hashOf(previous.key))) !== 'string'
  const kept = isValid ? previous : undefined
  if (kept) {
    const query = sql.selectFrom('endpoints').select('url').where('partner_id', '=', kept.partnerId)
    const current = (await query.executeTakeFirst())?.url
    if (kept.endpointUrl === endpointUrl || current !== kept.endpointUrl) return kept
  }
  const endpointSecret = kept?.endpointSecret ?? generateSecret()
  const { partnerId, key } = kept ?? (await makePartner(orm.em.fork()))
  const secret = sealing(endpointSecret, encryptionKeys)
  await setEndpoint(sql, partnerId, { url: endpointUrl, secret })
  return { partnerId, key, endpointUrl, endpointSecret }
}

async function makePartner(em: Em): Promise<{ partnerId: number; key: string }> {
  const partner = { name: 'Demo partner', contactEmail: 'partner@example.com' }
  const { id: partnerId } = await addPartner(em, partner)
  const { key } = await issueKey(em, partnerId, 'sandbox')
  return { partnerId, key }
}
