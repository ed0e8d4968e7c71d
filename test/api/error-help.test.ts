import { beforeAll, describe, expect, it } from '@jest/globals'
import { failures } from '../../src/core/http/plugins/failures.ts'
import { ApiError, type ErrorCode, errorCatalogue } from '../../src/core/http/errors.ts'
import Fastify from 'fastify'
import { type Api, borrower, prepareApi } from './api.ts'

const codes = Object.keys(errorCatalogue) as ErrorCode[]

describe('the Link of an error', () => {
  let api: Api
  beforeAll(async () => {
    api = await prepareApi()
  })

  /** Where a Link with rel="help" leads, below the API's address. */
  const targetOf = (link: unknown) => /^<(\/[^>]+)>; rel="help"$/.exec(String(link))?.[1] ?? ''

  it.each(codes)('leads from %s to what explains it', async (code) => {
    const app = Fastify()
    app.decorate('limitAddress', async () => {})
    await app.register(failures)
    app.get('/', () => {
      throw new ApiError(code)
    })
    const { headers, statusCode } = await app.inject('/')
    expect(statusCode).toBe(errorCatalogue[code].status)
    const [path = '', id = ''] = targetOf(headers['link']).split('#')
    const page = await api.app.inject(path)
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(id).toBe(code)
    expect(page.body).toContain(`<section id="${id}">`)
  })

  it('comes with errors of every kind, and with nothing else', async () => {
    const partner = await api.addPartner()
    const errors = [
      await partner.post('get-lead', {}),
      await partner.post('get-lead', '{'),
      await partner.post('get-lead', { lead_id: 1 }),
      await api.post('get-lead', {}),
      await partner.send({ method: 'GET', url: '/v1/nothing' }),
      await partner.send({ method: 'GET', url: '/v1/get-lead' }),
      await partner.post('create-lead', 'x'.repeat(70_000)),
    ]
    for (const { body, headers } of errors)
      expect(targetOf(headers['link'])).toBe(`/docs/errors#${body.error.code}`)
    expect((await partner.post('create-lead', borrower)).headers['link']).toBeUndefined()
  })

  it('leads in production to a page without the errors of a sandbox', async () => {
    const { app } = await prepareApi({ environment: 'production' })
    const { body, headers } = await app.inject('/docs/errors')
    expect(body).toContain('<section id="LEAD_HELD">')
    expect(body).not.toContain('LEAD_FULL')
    expect(headers['content-security-policy']).toMatch(/^default-src 'none';/)
    expect(body).not.toMatch(/<script|https?:/)
  })
})
