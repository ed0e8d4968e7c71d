import type { FastifyPluginAsync } from 'fastify'
import type { Environment } from '../../values/environment.ts'
import { ERRORS_PATH, errorHelp } from '../error-help.ts'
import { type ErrorCode, errorCatalogue, errorCodesOf } from '../errors.ts'

/** No scripts, and nothing from elsewhere. */
const policy =
  "default-src 'none';style-src 'unsafe-inline';img-src data:;base-uri 'none';form-action 'none';frame-ancestors 'none'"

/** GET /docs/errors: what each error means, where the `Link` of every error response leads. */
export const errorsPage: FastifyPluginAsync<{ environment: Environment }> = async (app, { environment }) => {
  const page = pageOf(errorCodesOf(environment))
  app.addHook('onRequest', async (request, reply) => {
    await app.limitAddress(request)
    reply.headers({ 'content-security-policy': policy, 'cache-control': 'no-cache' })
  })
  app.get(ERRORS_PATH, { schema: { hide: true, 'x-operation': {} } }, (_request, reply) =>
    reply.type('text/html; charset=utf-8').send(page),
  )
}

const pageOf = (codes: readonly ErrorCode[]) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Errors · Partner Referral Service</title>
    <link rel="icon" href="data:,">
    <style>
      :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
      body { max-width: 42rem; margin: 2rem auto; padding: 0 1rem }
      section:target { outline: 2px solid; outline-offset: 0.5rem }
    </style>
  </head>
  <body>
    <h1>Errors</h1>
    <p>Each response with an error has its code in <code>error.code</code>. The <a href="/docs">reference</a> has all calls.</p>
${codes.map(sectionOf).join('\n')}
  </body>
</html>
`

function sectionOf(code: ErrorCode): string {
  const { meaning, remedy } = errorHelp[code]
  return `    <section id="${code}">
      <h2>${errorCatalogue[code].status} <code>${code}</code></h2>
      <p><b>Meaning:</b> ${toHtml(meaning)}.</p>
      <p><b>Do:</b> ${toHtml(remedy)}.</p>
    </section>`
}

/** Of our own texts, which have no markup but code in backticks. */
const toHtml = (text: string) => text.replaceAll(/`([^`]+)`/g, '<code>$1</code>')
