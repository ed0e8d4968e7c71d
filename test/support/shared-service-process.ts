import { prepareService } from './service.ts'

// The shared service belongs to no test file, so it starts in a process of its own, and ends with the one that wants it.
const { environment, ownerUrl, startApi, startWorker } = await prepareService()
const [api, worker] = await Promise.all([startApi(), startWorker()])
process.once('disconnect', () => void Promise.all([api.kill(), worker.kill()]).finally(() => process.exit()))
process.send?.({ environment, ownerUrl, port: api.port })
