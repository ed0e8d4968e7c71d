import { requireDeployment } from '../../src/core/record/statements/deployment.ts'
import { changePartner } from '../../src/core/partners/statements/partner.ts'
import { applyRoles, provideLogin } from '../../src/core/database/roles.ts'
import { startMailServer } from '../support/mail-server.ts'
import { ownPostgres } from '../support/own-postgres.ts'
import { ownTemporal } from '../support/own-temporal.ts'
import type { PartnerEndpoint } from '../support/partner-endpoint.ts'
import { runToEnd, type ServiceProcess } from '../support/processes.ts'
import { prepareService } from '../support/service.ts'
import { asService } from '../support/template-database.ts'
import { archiving } from './backup.ts'

/** Of the partner, who is told there what a restore lost. */
export const CONTACT = 'integrations@lender.example'

/** Of how many webhooks the endpoint refuses one at first: some always wait. */
export const REFUSED_EVERY = 8

/** A whole deployment of an act's own: PostgreSQL that archives, Temporal, the service as its own role, a partner. */
export async function startStack() {
  const [postgres, temporal, mail] = await Promise.all([
    ownPostgres(archiving),
    ownTemporal(),
    startMailServer(),
  ])
  const service = await prepareService({
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: temporal.address,
    SMTP_URL: mail.url,
    // the only ones whom a sandbox mails
    MAIL_ALLOW_DOMAINS: 'lender.example',
    // as npm start has it
    STARTS_IN_FLIGHT: '1',
    METRICS_PORT: '0',
  })
  const { environment, orm, sql } = service
  await requireDeployment(sql, 'sandbox')
  const serviceUrl = asService(postgres.url)
  await applyRoles(orm)
  await provideLogin(orm, serviceUrl)
  environment.DATABASE_URL = serviceUrl
  const partner = await service.addPartner()
  await changePartner(sql, partner.id, { contact_email: CONTACT })
  const refusing: Refusing = { every: REFUSED_EVERY, next: new Set() }
  partner.endpoint.answer = refusingSome(refusing)
  const [api, worker] = await Promise.all([service.startApi(), service.startWorker()])
  const running: { api: ServiceProcess; worker: ServiceProcess } = { api, worker }
  return {
    postgres,
    temporal,
    mail,
    service,
    partner,
    refusing,
    /** The processes that run now: an act replaces them. */
    running,
    /** Calls the API as the partner does. Rejects if there is no answer in five seconds. */
    call: (path: string, body: object, headers: Record<string, string> = {}) =>
      call(running.api.port, path, body, { authorization: `Service-Key ${partner.key}`, ...headers }),
    /** Runs a staff command; answers its JSON. @throws {Error} what it said, if it failed. */
    staff: async (...args: string[]): Promise<Record<string, unknown>> => {
      const { code, stdout, stderr } = await runToEnd('src/staff.ts', environment, [
        ...args,
        '--json',
        '--as',
        'drill',
      ])
      if (code !== 0) throw new Error(`staff ${args.join(' ')}: ${stderr || stdout}`)
      return JSON.parse(stdout) as Record<string, unknown>
    },
  }
}

export type Stack = Awaited<ReturnType<typeof startStack>>

/** Which webhooks are refused at their first attempt: one of so many, and the next of each of these leads. */
interface Refusing {
  every: number
  next: Set<number>
}

/** A webhook is taken at its second attempt at the latest: a third would come after five minutes. */
function refusingSome(refusing: Refusing): PartnerEndpoint['answer'] {
  const known = new Set<string>()
  return ({ id, event }, response) => {
    const { every, next } = refusing
    const isRefused = !known.has(id) && (next.delete(event.data.lead_id) || known.size % every === 0)
    known.add(id)
    response.writeHead(isRefused ? 503 : 200).end()
  }
}

export interface Answer {
  status: number
  body: Record<string, unknown>
}

const PATIENCE_MS = 5000

async function call(
  port: number | undefined,
  path: string,
  body: object,
  headers: Record<string, string>,
): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
