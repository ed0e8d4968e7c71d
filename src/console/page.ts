import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync } from 'fastify'
import { milestoneNames, milestones } from '../leads/milestones.ts'
import { closeReasonNames } from '../leads/reasons.ts'

const files = path.join(import.meta.dirname, 'browser')

const { resolve } = createRequire(import.meta.url)
/** Preact and htm as their packages have them; the page's import map names them. */
const libraries = [
  path.join(resolve('preact/package.json'), '../dist/preact.mjs'),
  path.join(resolve('preact/package.json'), '../hooks/dist/hooks.mjs'),
  path.join(resolve('htm'), '../htm.mjs'),
]

const page = readFileSync(path.join(files, 'index.html'), 'utf8')
const [, importMap = ''] = /<script type="importmap">(.*?)<\/script>/s.exec(page) ?? []
// browsers read every line end as a line feed
const importMapHash = createHash('sha256').update(importMap.replaceAll('\r\n', '\n')).digest('base64')

/**
 * Only scripts and styles of this server, and the import map, which has to be in the page; only requests to this server; no
 * markup from strings (Trusted Types).
 */
const policy = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${importMapHash}'`,
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join(';')

/**
 * GET /console: the page on which a partner's developers see and try everything. It is files only: what it shows and
 * does goes through the public API with the partner's own key.
 */
export const consolePage: FastifyPluginAsync = async (app) => {
  app.addHook('onRequest', async (request, reply) => {
    await app.limitAddress(request)
    // nothing here is a partner's; browsers ask with the ETag whether a file has changed
    reply.headers({
      'content-security-policy': policy,
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
    })
  })
  await app.register(fastifyStatic, {
    root: files,
    prefix: '/console/',
    wildcard: false,
    cacheControl: false,
    globIgnore: ['**/*.d.ts', '**/tsconfig.json'],
  })
  app.get('/console', (_request, reply) => reply.sendFile('index.html'))
  for (const file of libraries) {
    const { dir, base } = path.parse(file)
    app.get(`/console/${base}`, (_request, reply) => reply.sendFile(base, dir))
  }
  let text: string | undefined
  app.get('/console/service.js', async (_request, reply) => {
    text ??= describeService(app.hasRoute({ method: 'POST', url: '/v1/sandbox/use-sink' }))
    return reply.type('text/javascript; charset=utf-8').send(text)
  })
}

/** A module with what the page has to know of the service, taken from the code that states it. */
function describeService(hasSinks: boolean): string {
  const table = milestoneNames.map((name) => {
    const { meaning, once, status } = milestones[name]
    return { name, meaning, once, status }
  })
  const facts = {
    milestones: table,
    hasSinks,
    closeReasons: closeReasonNames,
  }
  return Object.entries(facts)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)}\n`)
    .join('')
}
