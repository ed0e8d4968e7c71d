import { closeSync, openSync } from 'node:fs'
import path from 'node:path'
import { pino } from 'pino'
import { newUuid } from '../../../src/values.ts'
import { createLogger } from '../../../src/observe/log.ts'
import type { Bench } from '../load/load.ts'
import type { Row } from '../rows.ts'

const ROUNDS = 5
const MILESTONES = 20_000

/** The two lines of a milestone, a recording and an attempt, in a file: processor time with their level off, and on. */
export async function logging({ servers }: Bench): Promise<Row[]> {
  const floor: number[] = []
  const service: number[] = []
  const folder = servers.folder
  for (let round = 0; round < ROUNDS; round++) {
    floor.push(microseconds('warn', path.join(folder, 'off.log')))
    service.push(microseconds('info', path.join(folder, 'on.log')))
  }
  return [{ work: 'the log of a milestone, CPU', unit: 'µs', floor, service, aim: { to: 100 } }]
}

function microseconds(level: string, file: string): number {
  const fd = openSync(file, 'w')
  const log = createLogger(level, 'worker', {
    build: '0123456789ab',
    destination: pino.destination(fd),
  })
  const ids = {
    partner_id: 1,
    lead_id: 1042,
    event_id: `evt_${newUuid()}`,
    sequence: 3,
    workflow_id: 'lead-1042',
    run_id: newUuid(),
    request_id: newUuid(),
  }
  const attempt = { attempt_id: `att_${newUuid()}`, trigger: 'scheduled', status: 200, error_code: null }
  const before = process.cpuUsage()
  for (let count = 0; count < MILESTONES; count++) {
    log.info({ ...ids, event: 'contract_signed', outcome: 'recorded', duration_ms: 4.2 }, 'recording')
    log.info({ ...ids, ...attempt, outcome: 'delivered', duration_ms: 7 }, 'attempt')
  }
  const { user, system } = process.cpuUsage(before)
  closeSync(fd)
  return (user + system) / MILESTONES
}
