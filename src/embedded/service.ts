import path from 'node:path'
import { launch, type Launched } from './launch.ts'

const preload = path.join(import.meta.dirname, '../preload.cjs')

interface ServiceOptions {
  name: string
  /** The entry point, the same as in a deployment. */
  entry: string
  environment: NodeJS.ProcessEnv
  logFile: string
  onSpawn: (launched: Launched) => void
}

/** Starts an entry point of the service as a process of its own, and waits until it serves. */
export function startService({ entry, environment: env, ...options }: ServiceOptions) {
  const args = ['--require', preload, entry]
  // the worker gives webhooks in flight 20 s, and itself 30 s
  return launch({ ...options, command: process.execPath, args, env, graceMs: 32_000 })
}
