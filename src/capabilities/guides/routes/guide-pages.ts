import type { FastifyPluginAsync } from 'fastify'
import type { Environment } from '../../../core/values/environment.ts'
import { type Guides, pageOf, pagePolicy } from '../../../core/http/openapi/page.ts'
import { entriesOfCalls, entriesOfErrors, entriesOfGuide } from '../entries.ts'
import { presentGuides, readGuide, SEARCH_PATH } from '../guides.ts'
import { linksOf } from '../links.ts'
import { llmsTxt } from '../llms-txt.ts'
import { render } from '../rendering.ts'
import { resultsOf } from '../results.ts'
import { createSearch, LONGEST_QUERY } from '../searching.ts'

const HTML = 'text/html; charset=utf-8'
const MARKDOWN = 'text/markdown; charset=utf-8'
const hidden = { schema: { hide: true, 'x-operation': {} } }

/** GET /docs/integrate and the other guides, also as Markdown; GET /docs/search; GET /llms.txt. None needs a key. */
export const guidePages: FastifyPluginAsync<{ environment: Environment }> = async (app, { environment }) => {
  const all = presentGuides()
  const guides: Guides = { links: all, searchPath: SEARCH_PATH }
  // few processes ever show them: each is made when it is first asked for
  const rendered = new Map(
    all.map((guide) => [guide, once(() => render(readGuide(guide), linksOf(guide, all, environment)))]),
  )
  const search = once(() =>
    createSearch([
      ...Array.from(rendered, ([guide, made]) => entriesOfGuide(guide, made().sections)).flat(),
      ...entriesOfCalls((app.swagger().paths ?? {}) as Parameters<typeof entriesOfCalls>[0]),
      ...entriesOfErrors(environment),
    ]),
  )
  app.addHook('onRequest', async (request, reply) => {
    await app.limitAddress(request, reply)
    reply.headers({ 'content-security-policy': pagePolicy, 'cache-control': 'no-cache' })
  })
  for (const [guide, made] of rendered) {
    const { path } = guide
    const page = once(() => {
      const { title, html } = made()
      const main = `${html}<p class="note"><a href="${path}.md">This page as Markdown</a></p>`
      return pageOf({ title, path, main, guides })
    })
    app.get(path, hidden, (_request, reply) => reply.type(HTML).send(page()))
    app.get(`${path}.md`, hidden, (_request, reply) => reply.type(MARKDOWN).send(made().markdown))
  }
  app.get<{ Querystring: Record<string, string | string[] | undefined> }>(
    SEARCH_PATH,
    hidden,
    (request, reply) => {
      const [asked = ''] = [request.query['q'] ?? ''].flat()
      const query = asked.slice(0, LONGEST_QUERY)
      const main = resultsOf(query, search()(query))
      return reply.type(HTML).send(pageOf({ title: 'Search', path: SEARCH_PATH, main, guides, query }))
    },
  )
  app.get('/llms.txt', hidden, (_request, reply) => reply.type(MARKDOWN).send(llmsTxt(all)))
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => (made ??= { value: make() }).value
}
