import { hasPrometheus, startPrometheus, type Target } from '../../prometheus/prometheus.ts'
import { atEnd } from '../../support/at-end.ts'
import { addPartnerWithEndpoint } from '../../support/service.ts'
import { deploy } from '../deployment.ts'
import { partnerApi } from '../partner-api.ts'
import { product } from '../sabotage.ts'
import { actsOf } from './acts.ts'
import { steadyLoad } from './load.ts'
import { FACTOR, type Fault, minuteMsOf, promises } from './promises.ts'
import { rehearse, type Seen } from './rehearse.ts'
import { moveToSmallDisk } from './small-disk.ts'

interface Options {
  /** Words of the faults that are staged, comma-separated; all of them without it. */
  only?: string
}

/**
 * Stages each fault under load with a real Prometheus and the rules of alerts.yml, and sees whether exactly the promised
 * alerts fire in time and end. The exit code is 1 if not.
 */
export async function rehearseAlerts({ only }: Options): Promise<void> {
  const say = (line: string) => process.stderr.write(`${line}\n`)
  if (!hasPrometheus()) {
    say('There is no Prometheus here (Debian: apt install prometheus): no alert was proven.')
    return
  }
  const deployment = await deploy(product, () => {})
  const { orm, sql, postgres, encryptionKey, metricsPorts, sdkPorts } = deployment
  const disk = await moveToSmallDisk(sql, postgres.data)
  if (disk === undefined) say('Only root can mount a small disk: PostgreSQL’s is not filled.')
  await deployment.startServices()
  const [steady, partner] = [await partnerOf(), await partnerOf()]
  async function partnerOf() {
    return addPartnerWithEndpoint(orm, encryptionKey)
  }
  const targets = Object.entries(metricsPorts).map(([instance, port]): Target => {
    const job = instance.startsWith('api') ? 'referrals-api' : 'referrals-worker'
    return { job, instance, port }
  })
  for (const [instance, port] of Object.entries(sdkPorts))
    targets.push({ job: 'temporal-sdk', instance, port })
  const prometheus = await startPrometheus(FACTOR)
  prometheus.observe(targets)
  await prometheus.untilRead(targets)
  const over = new AbortController()
  const load = steadyLoad(deployment, [steady, partner], over.signal)
  atEnd(async () => over.abort())
  const api = partnerApi(deployment.apiPorts, [], over.signal)
  const acts = actsOf({ deployment, api, partner, disk })
  const isWanted = (fault: string) => only?.split(',').some((text) => fault.includes(text)) ?? true
  const seen: Seen[] = []
  for (const fault of Object.keys(promises) as Fault[]) {
    const act = acts[fault]
    if (act === undefined || !isWanted(fault)) continue
    say(`${fault} …`)
    seen.push(await rehearse(fault, act, prometheus))
    for (const line of linesOf(seen.at(-1) as Seen)) say(`  ${line}`)
  }
  over.abort()
  await load
  process.stdout.write(`${tableOf(seen)}\n`)
  process.exitCode = seen.some(({ broken }) => broken.length > 0) ? 1 : 0
}

function linesOf({ fired, clearedMs, broken }: Seen): string[] {
  const alerts = Object.entries(fired).map(([name, ms]) => `${name} after ${(ms / 1000).toFixed(1)} s`)
  const cleared = clearedMs === undefined ? 'not cleared' : `cleared after ${(clearedMs / 1000).toFixed(1)} s`
  return [[...alerts, cleared].join(', '), ...broken.map((line) => `✗ ${line}`)]
}

/** As reliability.md has it: minutes of a deployment. */
function tableOf(seen: readonly Seen[]): string {
  const rows = seen.map(({ fault, fired, clearedMs }) => {
    const promised: Record<string, number> = promises[fault]
    const names = Object.entries(promised).map(([name, minutes]) => `\`${name}\` ${minutes}`)
    const times = Object.keys(promised).map((name) =>
      name in fired ? ((fired[name] ?? 0) / minuteMsOf(fault)).toFixed(1) : 'not',
    )
    return `| ${fault} | ${names.join(', ') || 'none'} | ${times.join(', ') || 'none'} | ${((clearedMs ?? Number.NaN) / 1000).toFixed(0)} s |`
  })
  return [
    '| Fault | Fires, within minutes | Seen, in minutes | Cleared after |',
    '| --- | --- | --- | --- |',
    ...rows,
  ].join('\n')
}
