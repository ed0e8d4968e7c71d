import type { Certify } from '../../../core/endpoints/commands/certify.ts'
import { generateSecret } from '../../../core/deliveries/webhooks/secrets.ts'
import { lockEndpoint } from '../../../core/endpoints/statements/endpoint.ts'
import { command } from '../../../staff/inbox.ts'
import { type Answer, table } from '../../../staff/answer.ts'
import type { StaffContext } from '../../../staff/context.ts'
import { failureOf, Refusal } from '../../../staff/refusal.ts'
import { soon } from '../../../staff/soon.ts'
import { certificationChecks, type CheckReport } from '../decisions/certification.ts'
import { certificationResult, dropCandidate, openStaffCandidate } from '../statements/staff-candidate.ts'
import { createEndpointRequests } from '../workflows/endpoint-requests.ts'

/** Six requests, each within fifteen seconds, and a second between them where they fail. */
const LIMIT_MS = 100_000

/** Certifies a URL before staff set it: the same six requests as for a partner, made by a worker. */
export const certifyFirst: Certify = async (context, partner, url, setAgain) => {
  const keys = await context.encryptionKeys()
  const { changeId, secret, certificationId, hasOnlySecret } = await context.change(
    async ({ sql, audit }) => {
      const endpoint = await lockEndpoint(sql, partner)
      if (endpoint === undefined) throw new Refusal(`There is no partner ${partner}: see "partner list".`)
      const opened = await openStaffCandidate(sql, endpoint.id, { url, newSecret: generateSecret() }, keys)
      const { certificationId: id } = opened
      const asked = id === undefined ? {} : { certification_id: id }
      const detail = { change_id: opened.changeId, origin: new URL(url).origin, ...asked }
      await audit({
        action: id === undefined ? 'endpoint.propose' : 'endpoint.certify',
        partnerId: partner,
        detail,
      })
      return opened
    },
  )
  if (certificationId === undefined)
    return { kind: 'answered', answer: proposed(partner, url, secret, setAgain) }
  const drop = async () => (hasOnlySecret ? undefined : dropCandidate(context.sql, changeId))
  const ended = await certify(context, certificationId, drop)
  if (ended?.result === 'passed') return { kind: 'passed', secret }
  await drop()
  return { kind: 'answered', answer: notSet(partner, url, ended, setAgain) }
}

/** @throws {Refusal} if no workflow can be started. */
async function certify(
  { client, sql, temporal }: StaffContext,
  certificationId: number,
  drop: () => Promise<void>,
) {
  try {
    await createEndpointRequests(client).certify(certificationId)
  } catch (error) {
    await drop()
    throw new Refusal(`${failureOf(error, temporal.address).message} Nothing was changed. ${ANYWAY}`)
  }
  return soon(() => certificationResult(sql, certificationId), LIMIT_MS)
}

const ANYWAY = 'To set the URL without certifying it, add --untested.'

function proposed(partner: number, url: string, secret: string, setAgain: string): Answer {
  return {
    json: { partner_id: partner, url, state: 'candidate', certified: false, secret, checks: [] },
    text: [
      `${url} is not set yet: partner ${partner} needs its signing secret first, shown only once:\n\n  ${secret}`,
      `Once its server verifies webhooks with it, certify and set the URL:\n\n  ${command(setAgain)}`,
      ANYWAY,
    ].join('\n\n'),
  }
}

type Ended = Awaited<ReturnType<typeof certify>>

function notSet(partner: number, url: string, ended: Ended, setAgain: string): Answer {
  const checks = certificationChecks.flatMap((check) => ended?.reports[check] ?? [])
  return {
    json: {
      partner_id: partner,
      url,
      state: 'unchanged',
      certified: false,
      secret: null,
      result: ended?.result ?? 'running',
      checks,
    },
    text: [
      `${url} was not set: ${whyNot(ended)}.`,
      checksTable(checks),
      `To try again:\n\n  ${command(setAgain)}`,
      ANYWAY,
    ]
      .filter(Boolean)
      .join('\n\n'),
    failed: true,
  }
}

function whyNot(ended: Ended): string {
  if (ended === undefined) return 'its certification is still running. Is a worker running?'
  return ended.result === 'failed'
    ? 'it did not pass its certification'
    : 'the partner, or somebody else, changed the endpoint meanwhile'
}

function checksTable(checks: CheckReport[]): string {
  if (checks.length === 0) return ''
  return table(checks, {
    check: 'check',
    result: 'result',
    expected: 'expected',
    received: 'received',
    hint: 'hint',
  })
}
