import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'

/** Pages of docs/ for lenders: sections of the reference, and served as they are. */
const guides = ['integrate', 'webhooks', 'sandbox']
const folder = new URL('../../docs/', import.meta.url)

/** Links to files that are not served. */
const ELSEWHERE = /\[([^[\]]+)\]\((?!https?:|#|(?:integrate|webhooks|sandbox)\.md)[^[)]+\)/g
/** Links between guides, which in the reference are sections of its description. */
const BETWEEN_SECTIONS = /\]\((?:\w+\.md)?#/g
/** The title of a page, and its first paragraph. */
const BEGINNING = /^# (.+)\n\n([^]+?)\n\n/

const readGuide = (name: string) =>
  readFileSync(new URL(`${name}.md`, folder), 'utf8').replaceAll(ELSEWHERE, '$1')

/** The guides as one description, whose links lead within the reference. */
export const describeGuides = () =>
  guides.map((name) => readGuide(name).replaceAll(BETWEEN_SECTIONS, '](#description/')).join('\n')

/** GET /docs/<guide>.md: a guide as Markdown. GET /llms.txt: a list of them for language models (https://llmstxt.org). */
export function serveGuides(app: FastifyInstance): void {
  const pages = guides.map((name) => ({ path: `/docs/${name}.md`, text: readGuide(name) }))
  const links = pages.map(({ path, text }) => {
    const [, title, about = ''] = BEGINNING.exec(text) ?? []
    return `- [${title}](${path}): ${about.replaceAll(/\s+/g, ' ')}`
  })
  const list = [
    '# Partner Referral Service',
    '> Lenders refer borrowers whom they declined for credit reasons, and get a signed webhook at every milestone.',
    `## Guides\n\n${links.join('\n')}`,
    '## Reference\n\n- [OpenAPI 3.1](/v1/openapi.json): every call, its errors, and the webhooks\n',
  ].join('\n\n')
  const serve = (path: string, type: string, text: string) =>
    app.get(path, {
      onRequest: (request) => app.limitAddress(request),
      handler: (_request, reply) =>
        reply.type(`${type}; charset=utf-8`).header('cache-control', 'max-age=3600').send(text),
    })
  for (const { path, text } of pages) serve(path, 'text/markdown', text)
  serve('/llms.txt', 'text/plain', list)
}
