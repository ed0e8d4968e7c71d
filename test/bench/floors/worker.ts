import { NativeConnection, Runtime, Worker } from '@temporalio/worker'
import { BARE_QUEUE } from './names.ts'

/** The floor of the worker: a bare workflow, and an activity that only says that it was called. */
const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE } = process.env
Runtime.install({ shutdownSignals: [] })
const connection = await NativeConnection.connect({ address: TEMPORAL_ADDRESS })
const worker = await Worker.create({
  connection,
  namespace: TEMPORAL_NAMESPACE,
  taskQueue: BARE_QUEUE,
  workflowsPath: new URL('workflow.ts', import.meta.url).pathname,
  activities: { noop: async (lead: number) => void process.send?.({ lead }) },
})
process.once('SIGTERM', () => worker.shutdown())
const running = worker.run()
process.send?.({ type: 'ready' })
await running
await connection.close()
process.disconnect()
