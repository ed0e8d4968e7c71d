import { setEndpoint } from '../db/endpoints/endpoint.ts'
import { findKeyOwner, hashOf, issueKey } from '../db/partners/keys.ts'
import { sqlOf, type Em, type Orm } from '../db/orm.ts'
import { addPartner } from '../db/partners/partner.ts'
import { encryptSecret, generateSecret } from '../webhooks/secrets.ts'
import type { DemoPartner } from './settings.ts'

interface DemoOptions {
  /** The one of the start before. */
  previous: DemoPartner | undefined
  endpointUrl: string
  encryptionKeys: readonly Buffer[]
}

/**
 * A partner with a valid sandbox key whose webhooks go to `endpointUrl`. The one of the start before is
 * kept while its key opens something, with whatever endpoint a tester has given it since.
 */
export async function provideDemoPartner(orm: Orm, options: DemoOptions): Promise<DemoPartner> {
  const { previous, endpointUrl, encryptionKeys } = options
  const kept = previous && (await isValid(orm, previous.key)) ? previous : undefined
  if (
    kept &&
    (kept.endpointUrl === endpointUrl || (await endpointUrlOf(orm, kept.partnerId)) !== kept.endpointUrl)
  ) {
    return kept
  }
  const endpointSecret = kept?.endpointSecret ?? generateSecret()
  const { partnerId, key } = kept ?? (await makePartner(orm))
  const ciphertext = encryptSecret(endpointSecret, encryptionKeys)
  await setEndpoint(sqlOf(orm), partnerId, { url: endpointUrl, ciphertext })
  return { partnerId, key, endpointUrl, endpointSecret }
}

async function isValid(orm: Orm, key: string): Promise<boolean> {
  return typeof (await findKeyOwner(sqlOf(orm), hashOf(key))) !== 'string'
}

async function endpointUrlOf(orm: Orm, partnerId: number): Promise<string | null | undefined> {
  const query = sqlOf(orm).selectFrom('endpoints').select('url').where('partner_id', '=', partnerId)
  return (await query.executeTakeFirst())?.url
}

async function makePartner(orm: Orm): Promise<{ partnerId: number; key: string }> {
  const em = orm.em.fork() as Em
  const { id: partnerId } = await addPartner(em, {
    name: 'Demo partner',
    contactEmail: 'partner@example.com',
  })
  const { key } = await issueKey(em, partnerId, 'sandbox')
  return { partnerId, key }
}
