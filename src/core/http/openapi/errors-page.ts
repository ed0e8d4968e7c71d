import type { FastifyPluginAsync } from 'fastify'
import type { Environment } from '../../values/environment.ts'
import { ERRORS_PATH, errorHelp } from '../error-help.ts'
import { type ErrorCode, errorCatalogue, errorCodesOf } from '../errors.ts'
import { table } from './markdown.ts'
import { codeToHtml, type Guides, pageOf, pagePolicy } from './page.ts'

interface Options {
  environment: Environment
  guides?: Guides | undefined
}

/** GET /docs/errors: what each error means, where the `Link` of every error response leads; with `.md` as Markdown. */
export const errorsPage: FastifyPluginAsync<Options> = async (app, { environment, guides }) => {
  const codes = errorCodesOf(environment)
  const page = pageOf({ title: 'Errors', path: ERRORS_PATH, main: toHtml(codes), guides })
  const text = toMarkdown(codes)
  const hidden = { schema: { hide: true, 'x-operation': {} } }
  app.addHook('onRequest', async (request, reply) => {
    await app.limitAddress(request, reply)
    reply.headers({ 'content-security-policy': pagePolicy, 'cache-control': 'no-cache' })
  })
  app.get(ERRORS_PATH, hidden, (_request, reply) => reply.type('text/html; charset=utf-8').send(page))
  app.get(`${ERRORS_PATH}.md`, hidden, (_request, reply) =>
    reply.type('text/markdown; charset=utf-8').send(text),
  )
}

const toHtml = (codes: readonly ErrorCode[]) => `<h1>Errors</h1>
<p>Each response with an error has its code in <code>error.code</code>. The <a href="/docs">reference</a> has all calls.</p>
${codes.map(sectionOf).join('\n')}`

function sectionOf(code: ErrorCode): string {
  const { meaning, remedy } = errorHelp[code]
  return `<section id="${code}">
  <h2>${errorCatalogue[code].status} <code>${code}</code></h2>
  <p><b>Meaning:</b> ${codeToHtml(meaning)}.</p>
  <p><b>Do:</b> ${codeToHtml(remedy)}.</p>
</section>`
}

const toMarkdown = (codes: readonly ErrorCode[]) =>
  `# Errors

Each response with an error has its code in \`error.code\`.

${table(
  ['Status', 'Code', 'Meaning', 'Do'],
  codes.map((code) => [
    String(errorCatalogue[code].status),
    `\`${code}\``,
    errorHelp[code].meaning,
    errorHelp[code].remedy,
  ]),
)}
`
