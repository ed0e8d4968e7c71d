import { switchAsStaff } from '../endpoints/switch-endpoint.ts'
import { receivedSecrets } from '../endpoints/secrets.ts'
import { findKeyOwner, hashOf, issueKey } from '../partners/keys.ts'
import type { Sql } from '../database/sql.ts'
import { addPartner } from '../partners/partner.ts'
import { sealing } from '../seal.ts'
import { generateSecret } from '../webhooks/signature.ts'
import type { DemoPartner } from './data-directory.ts'

/**
 * A partner with a valid sandbox key whose webhooks go to `endpointUrl`. The one of the previous start is kept, with any
 * endpoint that a tester has given it since, unless its key was revoked or has expired.
 */
export async function provideDemoPartner(
  sql: Sql,
  previous: DemoPartner | undefined,
  { endpointUrl, encryptionKeys }: { endpointUrl: string; encryptionKeys: readonly Buffer[] },
): Promise<DemoPartner> {
  const isValid = previous && !('refusal' in (await findKeyOwner(sql, hashOf(previous.key))))
  const { partnerId, key } = isValid ? previous : await makePartner(sql)
  const query = sql.selectFrom('endpoints').select('url').where('partner_id', '=', partnerId)
  const current = (await query.executeTakeFirst())?.url
  if (!isValid || current === previous.endpointUrl) {
    // it keeps the secret that it has
    const secret = sealing(generateSecret(), encryptionKeys)
    if (current !== endpointUrl) await switchAsStaff(sql, partnerId, { url: endpointUrl, secret })
  }
  return { partnerId, key, endpointUrl }
}

/** The signing secrets of each partner whose URL, or candidate, is `url`. */
export async function secretsOf(sql: Sql, url: string, encryptionKeys: readonly Buffer[]): Promise<string[]> {
  const endpoints = await sql
    .selectFrom('endpoints')
    .select('partner_id as id')
    .where((eb) => eb.or([eb('url', '=', url), eb('candidate_url', '=', url)]))
    .execute()
  const secrets = await Promise.all(endpoints.map(({ id }) => receivedSecrets(sql, id, encryptionKeys)))
  return secrets.flat()
}

async function makePartner(sql: Sql): Promise<{ partnerId: number; key: string }> {
  const { id } = await addPartner(sql, { name: 'Demo partner', contact_email: 'partner@example.com' })
  return { partnerId: id, key: (await issueKey(sql, id, 'sandbox')).key }
}
