import type { Client } from '@temporalio/client'
import { fail } from './fail.ts'
import { OtherDeployment } from './temporal/namespace-claim.ts'
import type { NamespaceGuard } from './temporal/namespace-guard.ts'
import { missingSearchAttributes } from './temporal/search-attributes.ts'

/** Ends the process with one line unless workers can work in the client's namespace, and it is this deployment's. */
export async function requireNamespace({
  client,
  guard,
}: {
  client: Client
  guard: NamespaceGuard
}): Promise<void> {
  const { namespace } = client.options
  const remedy = 'Run npm run setup-temporal, or set TEMPORAL_NAMESPACE'
  const failUnusable = (error: unknown): never =>
    fail(
      error instanceof OtherDeployment
        ? error.message
        : `Temporal’s namespace ${namespace} cannot be used: ${reasonOf(error)}. ${remedy}`,
    )
  // a workflow that sets an unknown search attribute would fail its task forever
  const missing = await missingSearchAttributes(client.connection, namespace).catch(failUnusable)
  if (missing.length > 0)
    fail(`Temporal’s namespace ${namespace} has no search attribute ${missing.join(', ')}. ${remedy}`)
  await guard().catch(failUnusable)
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'details' in error && typeof error.details === 'string' ? error.details : error.message
}
