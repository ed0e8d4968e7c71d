import { issueKey } from '../../src/core/partners/statements/keys.ts'
import { contextOf } from '../staff/context.ts'
import { temporaryFolder } from './folder.ts'
import { startMailServer } from './mail-server.ts'
import { prepareService } from './service.ts'

export const STAFF_EMAIL = 'staff@service.example'

/** A service in production with an API, a worker and a mail server, and a partner whose contact gets emails. */
export async function prepareProduction(settings: Record<string, string> = {}) {
  const mails = await startMailServer()
  const service = await prepareService({
    ENVIRONMENT: 'production',
    WEBHOOK_ALLOW_PRIVATE_NETWORK: '',
    ALLOW_PLAINTEXT: 'smtp,score_provider,database',
    SMTP_URL: mails.url,
    MAIL_FROM: 'us@example.com',
    MAIL_REPLY_TO: 'help@example.com',
    MAIL_FOOTER: 'Example Inc., 1 Main Street',
    STAFF_EMAIL,
    SCORE_PROVIDER_URL: 'http://127.0.0.1:1',
    ERASURE_JOURNAL: temporaryFolder(),
    TRUST_PROXY: '127.0.0.1',
    ...settings,
  })
  const context = await contextOf(service.environment)
  await context.deployment()
  const [api] = await Promise.all([service.startApi(), service.startWorker()])
  const partner = await service.addPartner()
  const contact = `tech-${partner.id}@lender.example`
  const setContact = async (email: string | null) => {
    const change = service.sql.updateTable('partners').set({ contact_email: email })
    await change.where('id', '=', partner.id).execute()
  }
  await setContact(contact)
  const { id: keyId, key } = await issueKey(service.orm.em.fork(), partner.id, 'production')

  /** Calls the API, as another key if asked. */
  async function post(path: string, body: object, as = key) {
    const response = await fetch(`http://127.0.0.1:${api.port}/v1/${path}`, {
      method: 'POST',
      headers: {
        authorization: `Service-Key ${as}`,
        'content-type': 'application/json',
        'x-forwarded-proto': 'https',
      },
      body: JSON.stringify(body),
    })
    const retryAfter = response.headers.get('retry-after')
    return { status: response.status, retryAfter, body: await response.json() }
  }
  return { service, context, mails, partner, keyId, contact, setContact, post }
}

export type Production = Awaited<ReturnType<typeof prepareProduction>>
