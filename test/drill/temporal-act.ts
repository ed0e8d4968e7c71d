import { copyFileSync, existsSync, rmSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runToEnd } from '../support/processes.ts'
import type { Disaster, Ground } from './rehearse.ts'
import { stillLead } from './still-lead.ts'

/** Its database and what is not merged into that yet: both at one moment, as after a loss of power. */
const FILES = ['temporal.db', 'temporal.db-wal']

/** How long workers work on a copy that their cache is ahead of. */
const DAMAGING_MS = 2000

/** Temporal comes back with less than the record knows, or with nothing. */
export function temporalDisasters(ground: Ground): Disaster[] {
  const { stack } = ground
  const { temporal, service, running } = stack
  const file = (name: string) => path.join(temporal.folder, name)
  const copyOf = (name: string) => file(`copy-of-${name}`)
  const strike = () => temporal.kill()
  const mayLose = { leads: false, milestones: true }

  function copy(): void {
    const pid = temporal.pid()
    if (pid === undefined) throw new Error('Temporal does not run')
    process.kill(pid, 'SIGSTOP')
    try {
      for (const name of FILES) if (existsSync(file(name))) copyFileSync(file(name), copyOf(name))
    } finally {
      process.kill(pid, 'SIGCONT')
    }
  }

  /** As `temporal workflow terminate --query` does. */
  async function terminateAll(): Promise<void> {
    const { workflow } = service.client
    for await (const { workflowId } of workflow.list({ query: `ExecutionStatus = 'Running'` }))
      await workflow.getHandle(workflowId).terminate('the record leads')
  }

  function eraseDatabase(): void {
    for (const name of [...FILES, 'temporal.db-shm']) rmSync(file(name), { force: true })
  }

  const still = stillLead(ground)

  async function leadUp(): Promise<void> {
    await delay(3000)
    await still.beforeCopy()
    copy()
    await delay(3000)
    await still.afterCopy()
  }

  async function putBack(): Promise<void> {
    eraseDatabase()
    for (const name of FILES) if (existsSync(copyOf(name))) copyFileSync(copyOf(name), file(name))
    await temporal.start()
  }

  async function restartWorker(): Promise<void> {
    await running.worker.kill()
    running.worker = await service.startWorker()
  }

  return [
    {
      mayLose,
      name: 'Temporal put back from a copy, workers stopped',
      leadUp,
      strike,
      recover: async () => {
        // what a worker has in its cache is ahead of the copy, and does not fit it. SIGTERM would wait for Temporal
        await running.worker.kill()
        await putBack()
      },
      runbook: restartWorker,
    },
    {
      mayLose,
      alerts: ['WorkflowsFail'],
      name: 'Temporal put back from a copy under running workers',
      leadUp,
      strike,
      recover: putBack,
      runbook: async () => {
        await delay(DAMAGING_MS)
        await running.worker.kill()
        await terminateAll()
        running.worker = await service.startWorker()
      },
      verify: still.verify,
    },
    {
      mayLose,
      name: 'Temporal lost, begun anew',
      leadUp: () => delay(2500),
      strike,
      recover: async () => {
        eraseDatabase()
        await temporal.start()
        const { code, stderr } = await runToEnd('src/setup-temporal.ts', service.environment)
        if (code !== 0) throw new Error(stderr)
      },
      // workers that keep running find the namespace, and compare only once a day
      runbook: async () => {
        await stack.staff('workflow', 'rebuild')
      },
    },
  ]
}
