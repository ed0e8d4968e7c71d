import { expect, it } from '@jest/globals'
import { prepareApi } from '../support/api.ts'

it('offers nothing of the sandbox in production', async () => {
  const [sandbox, production] = await Promise.all([prepareApi(), prepareApi({ environment: 'production' })])
  const { paths } = (await sandbox.send({ method: 'GET', url: '/v1/openapi.json' })).body
  const ofSandbox = Object.keys(paths).filter((path) => path.startsWith('/sandbox/'))
  expect(ofSandbox).toContain('/sandbox/use-sink')
  const document = (await production.send({ method: 'GET', url: '/v1/openapi.json' })).body
  expect(Object.keys(document.paths)).not.toEqual(expect.arrayContaining([expect.stringMatching('sandbox')]))
  expect(document.tags).not.toContainEqual(expect.objectContaining({ name: 'Sandbox' }))
  const partner = await production.addPartner()
  const unknown = await partner.post('sandbox/never-was', {})
  expect(unknown.status).toBe(404)
  const answerFor = (path: string) => unknown.text.replace('/v1/sandbox/never-was', path)
  for (const path of [...ofSandbox, '/sandbox/sinks/any']) {
    const { status, text } = await partner.post(path.slice(1), {})
    expect([path, status, text]).toEqual([path, 404, answerFor(`/v1${path}`)])
  }
  for (const url of ['/console', '/console/', '/console/main.js', '/console/service.js']) {
    const { status, text } = await production.send({ method: 'GET', url })
    expect([url, status, text]).toEqual([url, 404, answerFor(url)])
  }
})
