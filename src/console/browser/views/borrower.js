import { html } from '../preact.js'
import { Fact } from '../parts.js'
import { Utc } from '../utc.js'
import { words } from '../words.js'

/** @import { LeadData } from '../types.js' */

/** Shown by hand, or said by another field. */
const elsewhere = [
  'id',
  'lead_id',
  'partner_id',
  'status',
  'first_name',
  'last_name',
  'email',
  'created_at',
  'updated_at',
]

/** What is known of a lead's borrower, and its dates. @param {{ data: LeadData }} props */
export const Borrower = ({ data: { lead, closing } }) => html`
  <section class="card pad" aria-labelledby="borrower">
    <h2 id="borrower">Borrower</h2>
    <dl class="facts borrower">
      <${Fact} name="Name">${`${lead.first_name} ${lead.last_name}`}<//>
      <${Fact} name="Email"><${Email} address=${lead.email} /><//>
      ${Object.entries(lead)
        .filter(([name, value]) => !elsewhere.includes(name) && value !== null)
        .map(([name, value]) => html`<${Fact} key=${name} name=${words(name)}>${String(value)}<//>`)}
      <${Fact} name="Created"><${Utc} at=${lead.created_at} zone /><//>
      <${Fact} name="Last change"><${Utc} at=${lead.updated_at} zone /><//>
      ${closing !== null && html`<${Fact} name="Closed"><${Utc} at=${closing.at} zone /> (${words(closing.reason).toLowerCase()})<//>`}
    </dl>
  </section>
`

/** It may break before its `@` and its dots, and not in a word. @param {{ address: string }} props */
const Email = ({ address }) =>
  address.split(/(?=[@.])/).map((part, index) => html`${index > 0 && html`<wbr />`}${part}`)
