import { listKeys } from '../statements/keys.ts'
import { listPartners } from '../statements/partner.ts'
import { type Figures, figuresByPartner } from '../../endpoints/statements/figures.ts'
import { isFailing } from '../../endpoints/decisions/endpoint.ts'
import { ageText } from '../../../staff/age.ts'
import { fields, printable, table } from '../../../staff/answer.ts'
import type { StaffContext } from '../../../staff/context.ts'
import { keyTable, noKeys } from './key.ts'
import { shareText } from './partner-health.ts'
import { noSuchPartner } from './require-partner.ts'

type Partner = Awaited<ReturnType<typeof listPartners>>[number]

const NO_FIGURES: Figures = { oldest_undelivered_at: null, success_rate: null }

/** All partners. */
export async function list({ sql, config }: StaffContext) {
  const rows = await listPartners(sql)
  const figures = await figuresByPartner(
    sql,
    rows.map((row) => row.partner_id),
  )
  const partners = rows.map((row) => ({ ...row, ...(figures.get(row.partner_id) ?? NO_FIGURES) }))
  const text = table(partners, {
    partner: 'partner_id',
    name: 'name',
    contact: 'contact_email',
    leads: 'leads',
    'valid keys': 'valid_keys',
    'self-service': (row) => selfServiceOf(row, config.ENVIRONMENT),
    endpoint: endpointState,
    'oldest waits': ({ oldest_undelivered_at: at }) => at && ageText(at),
    'succeeded in 24 h': ({ success_rate: rate }) => (rate === null ? null : shareText(rate)),
    added: 'created_at',
  })
  const none = 'There are no partners yet. To add one: npm run staff -- partner add NAME'
  return { json: { partners }, text: partners.length === 0 ? none : text }
}

/** A partner, its endpoint's state and its keys. */
export async function showPartner({ sql, config }: StaffContext, partner: number) {
  const [row] = await listPartners(sql, partner)
  if (row === undefined) throw noSuchPartner(partner)
  const keys = await listKeys(sql, partner)
  const about = fields({
    partner,
    name: row.name,
    contact: row.contact_email,
    leads: row.leads,
    'self-service': selfServiceOf(row, config.ENVIRONMENT),
    endpoint: row.endpoint_url,
    'endpoint state': endpointState(row),
    added: row.created_at,
  })
  return {
    json: { ...row, keys },
    text: `${about}\n\n${keys.length === 0 ? noKeys(printable(row.name), partner) : keyTable(keys)}`,
  }
}

const endpointState = ({ endpoint_url: url, endpoint_state: state, failing_since: since }: Partner) =>
  url && (isFailing(state, since) ? 'failing' : state)

/** In a sandbox, every partner changes its endpoint itself. */
function selfServiceOf({ self_service: isOn }: Partner, environment: 'sandbox' | 'production'): string {
  if (environment === 'sandbox') return 'on (sandbox)'
  return isOn ? 'on' : 'off'
}
