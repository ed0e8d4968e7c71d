import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { Validator } from '@seriousme/openapi-schema-validator'
import { switchAsStaff } from '../../src/endpoints/switch-endpoint.ts'
import { milestoneNames, milestones } from '../../src/leads/milestones.ts'
import { type Answer, type Api, prepareApi } from '../support/api.ts'
import { committed, openApiDocument, type Operation } from './openapi-document.ts'

describe('GET /v1/openapi.json', () => {
  let api: Api
  let answer: Answer
  beforeAll(async () => {
    api = await prepareApi()
    answer = await api.send({ method: 'GET', url: '/v1/openapi.json' })
  })

  it('is a valid OpenAPI 3.1 document, without a key', async () => {
    expect([answer.status, answer.body.openapi]).toEqual([200, '3.1.0'])
    expect(await new Validator().validate(answer.body)).toMatchObject({ valid: true })
  })

  it('is the document that is committed: npm run openapi writes it', () => {
    expect(`${JSON.stringify(answer.body, null, 2)}\n`).toBe(readFileSync(committed, 'utf8'))
  })

  it('describes the webhooks of all milestones that are sent, and what is no event, with their headers and bodies', () => {
    const { webhooks } = answer.body
    const others = ['endpoint.ping', 'endpoint.certification']
    const sent = milestoneNames.filter((name) => milestones[name].webhook)
    expect(Object.keys(webhooks)).toEqual([...sent, ...others])
    for (const [name, { post }] of Object.entries<{ post: Operation }>(webhooks)) {
      expect(post.requestBody?.content['application/json'].example).toMatchObject({
        type: name,
        data: others.includes(name) ? { environment: 'sandbox' } : { event_name: name },
      })
      expect(post.parameters.map((header) => header.name)).toEqual([
        'webhook-id',
        'webhook-timestamp',
        'webhook-signature',
        ...(others.includes(name) ? [] : ['webhook-replay']),
      ])
    }
  })

  it('has examples of requests that the service takes', async () => {
    const partner = await api.addPartner()
    const lead_id = await partner.createLead()
    await switchAsStaff(api.sql, partner.id, { url: 'https://lender.example/now', secret: () => 'unused' })
    const { data } = (await partner.post('get-deliveries', { lead_id })).body
    // each ends a lead of its own
    const endings = ['/close-lead', '/erase-lead']
    const paths = Object.entries<{ post?: Operation }>(answer.body.paths)
    for (const [name, { post }] of paths) {
      for (const { value } of Object.values(post?.requestBody?.content['application/json'].examples ?? {})) {
        const sent = {
          ...value,
          ...('lead_id' in value && {
            lead_id: endings.includes(name) ? await partner.createLead() : lead_id,
          }),
          ...('event_id' in value && { event_id: data[0].event_id }),
          ...('wait' in value && { wait: 1 }),
        }
        expect([name, (await partner.post(name.slice(1), sent)).status]).toEqual([name, 200])
      }
    }
  })
})

const sectionsOf = (markdown: string) =>
  Array.from(markdown.matchAll(/^##? (.+)$/gm), ([, title = '']) => title)
const slugOf = (title: string) =>
  title
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-')

describe('GET /llms.txt', () => {
  it('lists the guides, which are served as Markdown', async () => {
    const { app } = await prepareApi()
    const list = await app.inject('/llms.txt')
    const guides = Array.from(list.body.matchAll(/\((.+\.md)\)/g), ([, path = '']) => path)
    expect(guides).toEqual(['/docs/integrate.md', '/docs/webhooks.md', '/docs/sandbox.md'])
    for (const path of guides) {
      const { headers, body } = await app.inject(path)
      expect([headers['content-type'], body]).toEqual([
        'text/markdown; charset=utf-8',
        expect.stringMatching(/^# \w/),
      ])
      expect(body.match(/\]\((?!https?:|#|(integrate|webhooks|sandbox)\.md)/g)).toBeNull()
    }
  })
})

describe('GET /docs', () => {
  it('has the guides as sections of the description, whose links lead to one another', () => {
    const { description } = openApiDocument.info
    const places = sectionsOf(description).map((title) => `#description/${slugOf(title)}`)
    const links = Array.from(description.matchAll(/\]\((?!https:)([^)]*)\)/g), ([, link]) => link)
    expect(links.length).toBeGreaterThan(10)
    expect(links.filter((link) => !places.includes(link ?? ''))).toEqual([])
  })

  it('is a page with all it needs from this host, where nobody tries requests in production', async () => {
    for (const environment of ['sandbox', 'production'] as const) {
      const { app } = await prepareApi({ environment })
      expect((await app.inject('/docs')).headers.location).toBe('/docs/')
      const page = await app.inject('/docs/')
      expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
      const policy = String(page.headers['content-security-policy'])
      const [, nonce = ''] = /script-src 'self' 'nonce-([^']+)'/.exec(policy) ?? []
      const scripts = page.body.match(/<script[^>]*>/g) ?? []
      expect(scripts.length).toBeGreaterThan(0)
      for (const script of scripts) expect(script).toContain(`nonce="${nonce}"`)
      expect(page.body).toContain('src="js/scalar.js"')
      expect(page.body).toContain(`"hideTestRequestButton": ${environment === 'production'}`)
      expect((await app.inject('/docs/js/scalar.js')).body).toContain('createApiReference')
    }
  })
})
