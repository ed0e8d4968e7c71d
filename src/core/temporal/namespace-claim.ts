import type { Connection } from '@temporalio/client'

/** Under which name of the namespace's data its deployment is kept. */
const OWNER = 'partner-referral-deployment'
const PERMISSION_DENIED = 7
const UNIMPLEMENTED = 12

type Service = Pick<Connection['workflowService'], 'describeNamespace' | 'updateNamespace'>

/** In every refusal: another process may have printed it as its last line. */
export const OTHERS = 'belongs to another deployment'

/** The namespace holds another deployment's workflows; `message` is one line that says what to do. */
export class OtherDeployment extends Error {
  constructor(namespace: string, owner: string) {
    super(
      `Temporal’s namespace ${namespace} ${OTHERS} (${owner}): set TEMPORAL_NAMESPACE to one of this deployment’s own, or, if that deployment is gone, run npm run setup-temporal -- --take-over.`,
    )
  }
}

/**
 * Makes sure that the namespace is `deployment`'s, and makes it so when it is nobody's: two deployments number
 * their leads alike, and would start, signal and record each other's.
 *
 * @param deployment its id, as the database has it.
 * @returns `unmarked` when Temporal does not let us see or say whose it is, as Temporal Cloud may.
 * @throws {OtherDeployment}
 */
export async function claimNamespace(
  service: Service,
  namespace: string,
  deployment: string,
): Promise<'ours' | 'unmarked'> {
  try {
    if ((await ownerOf(service, namespace)) === '') await giveNamespace(service, namespace, deployment)
    // read again: another deployment may have claimed it at the same time
    const owner = await ownerOf(service, namespace)
    if (owner === deployment) return 'ours'
    throw new OtherDeployment(namespace, owner)
  } catch (error) {
    if (isRefused(error)) return 'unmarked'
    throw error
  }
}

/** Gives the namespace to a deployment, even if another one has it; to `''` to let the next one claim it. */
export async function giveNamespace(service: Service, namespace: string, deployment: string): Promise<void> {
  await service.updateNamespace({ namespace, updateInfo: { data: { [OWNER]: deployment } } })
}

async function ownerOf(service: Service, namespace: string): Promise<string> {
  const { namespaceInfo } = await service.describeNamespace({ namespace })
  return namespaceInfo?.data?.[OWNER] ?? ''
}

function isRefused(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    [PERMISSION_DENIED, UNIMPLEMENTED].includes(Number(error.code))
  )
}
