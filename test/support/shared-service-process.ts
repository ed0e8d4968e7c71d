import { createServer } from 'node:http'
import { listen } from './listen.ts'
import { prepareService } from './service.ts'

// The shared service belongs to no test file, so it starts in a process of its own, and ends with the one that wants it.
const { environment, ownerUrl, startApiProcess, startWorkerProcess } = await prepareService({
  METRICS_PORT: '0',
})
const [api, worker] = await Promise.all([startApiProcess(), startWorkerProcess()])
process.once('disconnect', () => void Promise.all([api.kill(), worker.kill()]).finally(() => process.exit()))
const output = createServer((_, response) => response.end(api.output() + worker.output()))
const outputUrl = `http://127.0.0.1:${await listen(output)}`
const metricsPorts = [api.metricsPort, worker.metricsPort]
process.send?.({ environment, ownerUrl, port: api.port, outputUrl, metricsPorts })
