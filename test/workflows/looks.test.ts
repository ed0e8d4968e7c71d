import { describe, expect, it } from '@jest/globals'
import { NativeConnection, Worker } from '@temporalio/worker'
import type { ClosingReview } from '../../src/capabilities/closing/decisions/closing.ts'
import type { ErasureReview } from '../../src/capabilities/erasure/decisions/erasure.ts'
import { workerOptions } from '../../src/core/temporal/worker-options.ts'
import { TASK_QUEUE } from '../../src/core/temporal/names.ts'
import { workflowBundle } from '../../src/workflow-bundle.ts'
import { lookSignal } from '../../workflows/messages.ts'
import { installQuietRuntime } from '../support/quiet-runtime.ts'
import { prepareService } from '../support/service.ts'

const CLOSING: ClosingReview = {
  partnerId: 1,
  dueInMs: 0,
  isAnnounced: false,
  isTold: false,
  isClosed: false,
}
const ERASURE: ErasureReview = {
  partnerId: 1,
  dueInMs: 0,
  isHeld: false,
  isErased: true,
  isChecked: true,
  isAnnounced: false,
  isTold: true,
}

describe('a workflow that is told to look while it reads that nothing is requested any more', () => {
  it('looks again: another request may have come since', async () => {
    installQuietRuntime()
    const { client, environment, namespace } = await prepareService()
    const connection = await NativeConnection.connect({ address: environment.TEMPORAL_ADDRESS })
    const settings = { WORKER_WORKFLOW_TASKS: 10, WORKER_ACTIVITIES: 10, WORKER_CACHED_WORKFLOWS: 10 }
    const handles = {
      closing: client.workflow.getHandle('closing-1'),
      erasure: client.workflow.getHandle('erasure-1'),
    }
    /** It is told to look before it has the first of two answers. */
    const answersOf =
      <Review>(name: keyof typeof handles, answers: (Review | null)[]) =>
      async () => {
        if (answers.length > 1) await handles[name].signal(lookSignal)
        return answers.shift() ?? null
      }
    const closings = [null, CLOSING]
    const activities = {
      reviewClosing: answersOf('closing', closings),
      carryOutClosing: async () => {},
      reviewErasure: answersOf('erasure', [null, ERASURE]),
    }
    const worker = await Worker.create({
      ...workerOptions({
        ...settings,
        TEMPORAL_DEPLOYMENT_NAME: undefined,
        TEMPORAL_WORKER_BUILD_ID: undefined,
      }),
      connection,
      namespace,
      workflowBundle: await workflowBundle(),
      activities,
    })
    const ends = await worker.runUntil(
      Promise.all(
        (['closing', 'erasure'] as const).map((name) =>
          client.workflow.execute(name, { taskQueue: TASK_QUEUE, workflowId: `${name}-1`, args: [1] }),
        ),
      ),
    )
    await connection.close()
    expect([ends, closings]).toEqual([['over', 'erased'], []])
  }, 60_000)
})
