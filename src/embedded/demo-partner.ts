import { setEndpoint } from '../core/endpoints/statements/endpoint.ts'
import { findKeyOwner, hashOf, issueKey } from '../core/partners/statements/keys.ts'
import { sqlOf, type Em, type Orm } from '../core/database/orm.ts'
import { addPartner } from '../core/partners/statements/partner.ts'
import { sealing } from '../core/sealing/seal.ts'
import { generateSecret } from '../core/deliveries/webhooks/secrets.ts'
import type { DemoPartner } from './data-directory.ts'

interface DemoOptions {
  /** The one of the previous start. */
  previous: DemoPartner | undefined
  endpointUrl: string
  encryptionKeys: readonly Buffer[]
  /** Gets a line about what is not as at the previous start. */
  report: (line: string) => void
}

interface Provided {
  demo: DemoPartner
  /** Where its webhooks go: `demo.endpointUrl`, or where a tester sends them. */
  webhooksTo: string
}

/**
 * A partner with a valid sandbox key whose webhooks go to `endpointUrl`. The one of the previous start is kept, with any
 * endpoint that a tester has given it since; if its key was revoked or has expired, it gets another.
 */
export async function provideDemoPartner(orm: Orm, options: DemoOptions): Promise<Provided> {
  const { endpointUrl, encryptionKeys } = options
  const sql = sqlOf(orm)
  const kept = await keptPartner(orm, options)
  if (kept) {
    const query = sql.selectFrom('endpoints').select('url').where('partner_id', '=', kept.partnerId)
    const current = (await query.executeTakeFirst())?.url ?? kept.endpointUrl
    if (kept.endpointUrl === endpointUrl || current !== kept.endpointUrl)
      return { demo: kept, webhooksTo: current }
  }
  const endpointSecret = kept?.endpointSecret ?? generateSecret()
  const { partnerId, key } = kept ?? (await makePartner(orm.em.fork()))
  const secret = sealing(endpointSecret, encryptionKeys)
  await setEndpoint(sql, partnerId, { url: endpointUrl, secret })
  return { demo: { partnerId, key, endpointUrl, endpointSecret }, webhooksTo: endpointUrl }
}

/** `undefined` if there is none in this database. */
async function keptPartner(orm: Orm, { previous, report }: DemoOptions): Promise<DemoPartner | undefined> {
  if (previous === undefined) return undefined
  const owner = await findKeyOwner(sqlOf(orm), hashOf(previous.key))
  if (!('refusal' in owner)) return previous
  if (owner.refusal === 'unknown') return undefined
  const { key } = await issueKey(orm.em.fork(), previous.partnerId, 'sandbox')
  const why = owner.refusal === 'revoked' ? 'was revoked' : 'has expired'
  report(`The demo partner’s key ${why}: it has a new one.`)
  return { ...previous, key }
}

async function makePartner(em: Em): Promise<{ partnerId: number; key: string }> {
  const partner = { name: 'Demo partner', contactEmail: 'partner@example.com' }
  const { id: partnerId } = await addPartner(em, partner)
  const { key } = await issueKey(em, partnerId, 'sandbox')
  return { partnerId, key }
}
