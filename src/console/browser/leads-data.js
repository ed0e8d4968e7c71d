import { call, readKey } from './api.js'

/** @import { LeadSummary } from './types.js' */
/** @typedef {{ status: string, delivery: string, closed: string, from: string, until: string, search: string, sort: string, after: string }} Filter */
/** @typedef {{ leads: LeadSummary[], next: number | null, isCut: boolean }} Leads `isCut`: there are more than were sorted */

const PAGE = 50
const MOST_AT_ONCE = 100
const MOST_SORTED = 500
const MOST_ID = 2_147_483_647

/** What the list can be sorted by; list-leads knows the newest first only. @type {Record<string, (one: LeadSummary, other: LeadSummary) => number>} */
const orders = {
  oldest: (one, other) => one.lead_id - other.lead_id,
  changed: (one, other) => other.updated_at.localeCompare(one.updated_at),
  unchanged: (one, other) => one.updated_at.localeCompare(other.updated_at),
  name: (one, other) => nameOf(one).localeCompare(nameOf(other), 'en', { numeric: true }),
  'name-down': (one, other) => nameOf(other).localeCompare(nameOf(one), 'en', { numeric: true }),
}

/** @param {LeadSummary} lead */
const nameOf = ({ partner_lead_id: name }) => name ?? ''

/**
 * Leads by a filter. What list-leads cannot do is done here with as few calls as it takes.
 *
 * @param {Filter} filter
 * @param {AbortSignal} signal
 * @returns {Promise<Leads>}
 */
export async function loadLeads(filter, signal) {
  const { sort, after, until } = filter
  const list = (/** @type {object} */ body) => call('/list-leads', body, { signal })
  const start = after === '' ? await startOf(until, list) : Number(after)
  const order = Object.hasOwn(orders, sort) ? orders[sort] : undefined
  const own = after === '' ? await leadWithId(filter, list) : []
  if (order === undefined) {
    const page = await pageFrom(start, PAGE, filter, list)
    return { ...page, leads: once([...own, ...page.leads]) }
  }
  const leads = [...own]
  let next = start ?? null
  do {
    const page = await pageFrom(next ?? undefined, MOST_AT_ONCE, filter, list)
    leads.push(...page.leads)
    next = page.next
  } while (next !== null && leads.length < MOST_SORTED)
  return { leads: once(leads).toSorted(order), next: null, isCut: next !== null }
}

/** @typedef {(body: object) => Promise<{ data: LeadSummary[], next: number | null }>} List */

/** @param {Filter} filter */
const bodyOf = ({ status, delivery, closed, search }) => ({
  ...(status !== '' && { status }),
  ...(delivery !== '' && { delivery }),
  ...(closed !== '' && { closed: closed === 'yes' }),
  ...(search !== '' && { partner_lead_id_prefix: search }),
})

/** Leads in the order of their ids were created in that order. @param {number | undefined} after @param {number} limit @param {Filter} filter @param {List} list */
async function pageFrom(after, limit, filter, list) {
  const { data, next } = await list({ ...bodyOf(filter), limit, ...(after !== undefined && { after }) })
  const leads = data.filter((lead) => lead.created_at >= filter.from)
  return { leads, next: leads.length < data.length ? null : next, isCut: false }
}

/** The one lead with the id that is searched for, which may be the beginning of a `partner_lead_id`, too. @param {Filter} filter @param {List} list */
async function leadWithId(filter, list) {
  const id = /^\d{1,10}$/.test(filter.search) ? Number(filter.search) : 0
  if (id === 0 || id >= MOST_ID) return []
  const { data } = await list({ after: id + 1, limit: 1 })
  return data.filter((lead) => lead.lead_id === id && matches(lead, filter))
}

/** The lead with the id may be found by its `partner_lead_id`, too. @param {LeadSummary[]} leads */
function once(leads) {
  const ids = leads.map(({ lead_id: id }) => id)
  return leads.filter(({ lead_id: id }, index) => ids.indexOf(id) === index)
}

/** @param {LeadSummary} lead @param {Filter} filter */
const matches = (lead, { status, delivery, closed, from, until }) =>
  (status === '' || lead.status === status) &&
  (delivery === '' || lead.delivery === delivery) &&
  (closed === '' || lead.closed === (closed === 'yes')) &&
  lead.created_at >= from &&
  (until === '' || lead.created_at.slice(0, 10) <= until)

/** Of each key and day: a day that is over gets no more leads. @type {Map<string, number>} */
const starts = new Map()

/**
 * Where the leads created until a day begin, as an `after`: halved between the oldest and the newest id. From today on,
 * all are.
 *
 * @param {string} until a date; empty for none
 * @param {List} list
 */
async function startOf(until, list) {
  if (until === '' || until >= new Date().toISOString().slice(0, 10)) return undefined
  const place = `${readKey()} ${until}`
  const known = starts.get(place)
  if (known !== undefined) return known
  const newestBelow = async (/** @type {number} */ after) => (await list({ after, limit: 1 })).data[0]
  let low = 0
  let high = (await newestBelow(MOST_ID))?.lead_id ?? 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const lead = await newestBelow(middle + 1)
    if (lead === undefined || lead.created_at.slice(0, 10) <= until) low = middle
    else high = lead.lead_id - 1
  }
  starts.set(place, low + 1)
  return low + 1
}
