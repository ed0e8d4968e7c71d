import path from 'node:path'
import type { Environment } from '../../core/values/environment.ts'
import type { Guide } from './guides.ts'

/** Where a link of a guide leads on the API's host: from its page, and from its Markdown. */
export interface Target {
  page: string
  markdown: string
}

const same = (page: string): Target => ({ page, markdown: page })

/** What else the host shows of the repository. */
const shown = (environment: Environment): Record<string, string> => ({
  'README.md#milestones': '/docs#description/milestones',
  'docs/openapi.json': '/v1/openapi.json',
  ...(environment === 'sandbox' && { 'docs/console.md': '/console' }),
})

/** Finds the target of a guide's link; `undefined` for a file that the host does not serve. */
export function linksOf(guide: Guide, guides: readonly Guide[], environment: Environment) {
  const others = shown(environment)
  return (href: string): Target | undefined => {
    if (/^(?:https?:|mailto:|#|\/)/.test(href)) return same(href)
    const [file = '', anchor] = href.split('#')
    const linked = path.posix.join(path.posix.dirname(guide.file), file)
    const end = anchor === undefined ? '' : `#${anchor}`
    const found = guides.find((one) => one.file === linked)
    if (found !== undefined) return { page: found.path + end, markdown: `${found.path}.md${end}` }
    const other = others[linked + end] ?? others[linked]
    return other === undefined ? undefined : same(other)
  }
}
