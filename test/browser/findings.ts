import axe from 'axe-core'
import type { Tab } from './browser.ts'

interface Finding {
  id: string
  nodes: { html: string }[]
}

/** What axe finds: WCAG 2.2 A and AA, and its best practices. */
export async function findings(tab: Tab): Promise<string[]> {
  await tab.evaluate(axe.source)
  const { violations } = (await tab.evaluate('axe.run(document)')) as { violations: Finding[] }
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
}
