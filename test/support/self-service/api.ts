import { certificationChecks } from '../../../src/capabilities/self-service/decisions/certification.ts'
import type { SelfServiceDependencies } from '../../../src/capabilities/self-service/routes/dependencies.ts'
import {
  candidateOf,
  endCertification,
} from '../../../src/capabilities/self-service/statements/certifications.ts'
import type { Sql } from '../../../src/core/database/orm.ts'
import { testKeys } from '../test-keys.ts'

/** What self-service gives an API that runs without Temporal: `requested` is told of the workflows that would start. */
export function selfServiceOf(sql: Sql, requested: string[]): SelfServiceDependencies {
  const requests = {
    certify: async (id: number) => {
      requested.push(`certify ${id}`)
      await certifySink(sql, id)
    },
    ping: async (id: number) => void requested.push(`ping ${id}`),
    change: async (id: number) => void requested.push(`change ${id}`),
  }
  return { startRequest: (start) => void start(requests), allowPrivateNetwork: false, egressAddresses: [] }
}

/** A base of sinks that no worker reaches. */
export const NOWHERE = 'http://127.0.0.1:2/'

/** A sink is certified as by a worker; the API waits for that. */
async function certifySink(sql: Sql, certificationId: number): Promise<void> {
  const candidate = await candidateOf(sql, certificationId, testKeys)
  if (!candidate?.url.includes('/sandbox/sinks/')) return
  const reports = Object.fromEntries(certificationChecks.map((check) => [check, { result: 'passed' }]))
  const certification = sql.updateTable('certifications').where('id', '=', certificationId)
  // nothing is sent there
  if (!candidate.url.startsWith(NOWHERE)) await certification.set({ reports: reports as never }).execute()
  await endCertification(sql, certificationId, testKeys)
}
