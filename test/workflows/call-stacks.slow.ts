import { randomUUID } from 'node:crypto'
import { WorkflowFailedError } from '@temporalio/client'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { TASK_QUEUE } from '../../src/core/temporal/names.ts'
import { leadsOf } from '../support/leads.ts'
import type { ServiceProcess } from '../support/processes.ts'
import { prepareService, type Service } from '../support/service.ts'

describe('stacks in workflows', () => {
  let service: Service
  let leadId: number
  let worker: ServiceProcess

  beforeAll(async () => {
    service = await prepareService()
    const [partner, started] = await Promise.all([service.addPartner(), service.startWorker()])
    worker = started
    leadId = await leadsOf(service, partner).start()
  })

  /** What Temporal has of an error that workflow code throws. */
  async function failureOf() {
    const workflow = { workflowId: `lead-${randomUUID()}`, taskQueue: TASK_QUEUE, args: ['by hand'] }
    const ended = service.client.workflow.execute('referral', workflow)
    const error = await ended.catch((reason: unknown) => reason)
    if (!(error instanceof WorkflowFailedError)) throw error
    const { failure } = error.cause as { failure?: { message?: string; stackTrace?: string } }
    return failure
  }

  /** What the Web UI shows as _Call Stack_. */
  const callStack = () => service.client.workflow.getHandle(`lead-${leadId}`).query<string>('__stack_trace')

  it('are not made: an error has its type and message', async () => {
    const failure = await failureOf()
    expect(failure).toMatchObject({
      message: 'Not started by the service: use staff workflow rebuild',
      applicationFailureInfo: { type: 'NoState' },
    })
    expect(failure?.stackTrace ?? '').not.toContain('workflows/')
    expect(await callStack()).toBe('')
    await worker.stop()
  })

  it('are made for whoever debugs, with WORKER_CALL_STACKS', async () => {
    await service.startWorker({ WORKER_CALL_STACKS: 'true' })
    const failure = await failureOf()
    expect(failure).toMatchObject({ message: 'Not started by the service: use staff workflow rebuild' })
    expect(failure?.stackTrace).toContain('requireState')
    expect(await callStack()).toContain('workflows/forever.ts')
  })
})
