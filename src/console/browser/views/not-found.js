import { html, useEffect } from '../preact.js'
import { link, replace } from '../route.js'

/** @typedef {import('preact').ComponentChildren} Children */

/**
 * What is not there: a page, a lead.
 *
 * @param {{ title: string, children?: Children, action?: Children }} props
 */
export const NotFound = ({
  title,
  children,
  action = html`<a class="button" href=${link('leads')}>See your leads</a>`,
}) => html`
  <div class="empty">
    <h1 tabindex="-1">${title}</h1>
    <p>${children}</p>
    ${action}
  </div>
`

/** What people type for a page that is below another one. @type {Record<string, string>} */
const moved = {
  new: 'leads/new',
  'lead/new': 'leads/new',
  lead: 'leads',
}

/** @param {{ path: string, query: URLSearchParams }} props */
export function NoView({ path, query }) {
  const to = Object.hasOwn(moved, path) ? moved[path] : path.replace(/^lead\/(?=\d+$)/, 'leads/')
  useEffect(() => {
    if (to !== undefined && to !== path) replace(link(to, Object.fromEntries(query)))
  }, [])
  if (to !== path) return null
  return html`<${NotFound} title="Page not found">There is no such page.<//>`
}
