import { describe } from '@jest/globals'
import { prepareService } from '../support/service.ts'
import { goesOnAfterKill } from './killed-reset.ts'

describe('reset-sandbox', () => {
  goesOnAfterKill({ size: 120, killedAt: 110 }, async () => {
    const service = await prepareService()
    const [{ port }, worker] = await Promise.all([service.startApi(), service.startWorker()])
    return { service, port, worker }
  })
})
