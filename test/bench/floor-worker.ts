import { NativeConnection, Worker } from '@temporalio/worker'

/** The floor of the worker: a bare workflow, and an activity that only says that it was called. */
const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE } = process.env
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address: TEMPORAL_ADDRESS }),
  namespace: TEMPORAL_NAMESPACE,
  taskQueue: 'bare',
  workflowsPath: new URL('floor-workflow.ts', import.meta.url).pathname,
  activities: { noop: async (lead: number) => void process.send?.({ lead }) },
})
process.send?.({ type: 'ready' })
await worker.run()
