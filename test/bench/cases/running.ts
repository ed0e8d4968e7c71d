import { setTimeout as delay } from 'node:timers/promises'
import { WorkflowNotFoundError } from '@temporalio/client'
import { deploy } from '../deployment.ts'
import { BARE_QUEUE } from '../floors/names.ts'
import { LEAD } from '../lead.ts'
import type { Bench } from '../load/load.ts'
import { percentile } from '../numbers.ts'
import type { Row } from '../rows.ts'

const SAMPLES = 40

/** From the request to a workflow that Temporal knows, against starting one; both seen by asking for it. */
export async function running({ servers }: Bench): Promise<Row[]> {
  const deployment = await deploy(servers)
  const { client, headers } = deployment
  const api = await deployment.startApi()
  const known = async (workflowId: string) => {
    for (;;) {
      try {
        return await client.workflow.getHandle(workflowId).describe()
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error
      }
    }
  }
  const latencies = { floor: [] as number[], service: [] as number[] }
  for (let sample = 0; sample < SAMPLES; sample++) {
    const began = performance.now()
    const workflowId = `bare-${sample}`
    await client.workflow.start('bare', { workflowId, taskQueue: BARE_QUEUE, args: [sample] })
    await known(workflowId)
    latencies.floor.push(performance.now() - began)
    await delay(20)
    const asked = performance.now()
    await known(`lead-${await create(api.port, headers)}`)
    latencies.service.push(performance.now() - asked)
    await delay(20)
  }
  await api.stop()
  await deployment.close()
  const of = (share: number) => ({
    floor: [percentile(latencies.floor, share)],
    service: [percentile(latencies.service, share)],
  })
  return [
    { work: 'create-lead → workflow running, p50', unit: 'ms', ...of(0.5) },
    { work: 'create-lead → workflow running, p99', unit: 'ms', ...of(0.99), aim: { to: 78 } },
  ]
}

async function create(port: number, headers: Record<string, string>): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/create-lead`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(LEAD),
  })
  return ((await response.json()) as { lead_id: number }).lead_id
}
