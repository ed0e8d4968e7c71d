import { WorkflowNotFoundError } from '@temporalio/client'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { runToEnd, type ServiceProcess, startProcess } from './support/processes.ts'
import { partnerCalls, prepareService, type Service } from './support/service.ts'
import { until } from './support/until.ts'
import { carryOut, staff } from './staff/context.ts'

/** Both have a lead 1, and workflows of both would be called lead-1. */
describe('two deployments with one Temporal namespace by mistake', () => {
  let owner: Service
  let other: Service
  let mistaken: Record<string, string>
  let ownerId: string
  let refusal: string

  const idOf = ({ sql }: Service) =>
    sql
      .selectFrom('deployment')
      .select('id')
      .executeTakeFirstOrThrow()
      .then(({ id }) => id)

  beforeAll(async () => {
    ;[owner, other] = await Promise.all([prepareService(), prepareService()])
    mistaken = { ...other.environment, TEMPORAL_NAMESPACE: owner.namespace }
    const worker = await owner.startWorker()
    await worker.stop()
    ownerId = await idOf(owner)
    refusal = `Temporal’s namespace ${owner.namespace} belongs to another deployment (${ownerId}): set TEMPORAL_NAMESPACE to one of this deployment’s own, or, if that deployment is gone, run npm run setup-temporal -- --take-over.`
  }, 60_000)

  const ofOwner = (leadId: number) => owner.client.workflow.getHandle(`lead-${leadId}`)

  it('the worker of the second does not start', async () => {
    expect(await runToEnd('src/worker.ts', mistaken)).toMatchObject({ code: 1, stderr: `${refusal}\n` })
  })

  it('its API takes leads, starts no workflow, and says once why', async () => {
    const partner = await other.addPartner()
    const api: ServiceProcess = await startProcess('src/server.ts', mistaken)
    const { createLead, post } = partnerCalls(api.port, partner.key)
    expect([await createLead(), await createLead()]).toEqual([1, 2])
    await until(async () => api.output().includes(refusal))
    const { event_id } = await other.sql.selectFrom('deliveries').select('event_id').executeTakeFirstOrThrow()
    expect((await post('resend-webhook', { event_id })).status).toBe(503)
    expect(await api.stop()).toBe(0)
    const errors = api
      .output()
      .split('\n')
      .filter((line) => line.includes(refusal) && line.includes('"level":50'))
    expect(errors).toHaveLength(1)
    await expect(ofOwner(1).describe()).rejects.toThrow(WorkflowNotFoundError)
  })

  it('its staff command refuses in one line', async () => {
    const show = ['lead', 'show', '1']
    expect(await staff(mistaken, show)).toEqual({ code: 1, stdout: '', stderr: `${refusal}\n` })
  })

  it.each([
    [['milestone', '1', 'contract_signed']],
    [['lead', 'show', '1']],
    [['lead', 'close', '1', '--reason', 'withdrew']],
    [['workflow', 'rebuild']],
    [['workflow', 'rebuild', '--dry-run']],
  ])('its staff command refuses %j', async (args) => {
    expect(await carryOut(mistaken, [args])).toEqual([refusal])
    await expect(ofOwner(1).describe()).rejects.toThrow(WorkflowNotFoundError)
  })

  it('setup-temporal refuses too', async () => {
    expect(await runToEnd('src/setup-temporal.ts', mistaken)).toMatchObject({
      code: 1,
      stderr: `${refusal}\n`,
    })
  })

  it('the first one starts again as it was', async () => {
    const partner = await owner.addPartner()
    const [api, worker] = await Promise.all([owner.startApi(), owner.startWorker()])
    const leadId = await partnerCalls(api.port, partner.key).createLead()
    await partner.endpoint.until(({ length }) => length === 1)
    expect((await ofOwner(leadId).describe()).status.name).toBe('RUNNING')
    expect(await Promise.all([api.stop(), worker.stop()])).toEqual([0, 0])
  })

  it('the first one is refused in the namespace of the second just the same', async () => {
    const claimed = await runToEnd('src/setup-temporal.ts', other.environment)
    expect(claimed).toMatchObject({ code: 0, stderr: '' })
    const astray = { ...owner.environment, TEMPORAL_NAMESPACE: other.namespace }
    const { code, stderr } = await runToEnd('src/worker.ts', astray)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: refusal.replace(owner.namespace, other.namespace).replace(ownerId, await idOf(other)) + '\n',
    })
  })

  it('the second takes the namespace over when it is told to, and the first is refused then', async () => {
    expect((await runToEnd('src/setup-temporal.ts', mistaken, ['--take-over'])).code).toBe(0)
    const worker = await startProcess('src/worker.ts', mistaken)
    expect(await worker.stop()).toBe(0)
    expect((await runToEnd('src/worker.ts', owner.environment)).stderr).toContain(await idOf(other))
  })
})
