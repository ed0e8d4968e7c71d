import { type Connection, isGrpcServiceError, type WorkflowClientInterceptor } from '@temporalio/client'
import type { Logger } from 'pino'
import { Refusal } from '../fail.ts'

/** The name under which a namespace's data has its deployment's id. */
const OWNER = 'partner-referral-deployment'
const PERMISSION_DENIED = 7
const UNIMPLEMENTED = 12

type Service = Pick<Connection['workflowService'], 'describeNamespace' | 'updateNamespace'>

/** The namespace holds another deployment's workflows. */
export class OtherDeployment extends Refusal {
  constructor(namespace: string, owner: string) {
    super(
      `Temporal’s namespace ${namespace} belongs to another deployment (${owner}): set TEMPORAL_NAMESPACE to one of this deployment’s own, or, if that deployment is gone, run npm run setup-temporal -- --take-over. For npm start, set DATABASE_URL to its database, or unset it, or begin anew with npm start -- --fresh.`,
    )
  }
}

/**
 * Makes sure that the namespace is `deployment`'s, and claims it if it is unclaimed. Two deployments number their leads
 * alike, and would start, signal and record each other's.
 *
 * @param deployment its id, as the database has it.
 * @returns `unmarked` if Temporal does not let us read or write the owner, as Temporal Cloud may not.
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

const isRefused = (error: unknown) =>
  isGrpcServiceError(error) && [PERMISSION_DENIED, UNIMPLEMENTED].includes(error.code)

/** How long an answer is cached. */
const FRESH_MS = 60_000
const CALL_LIMIT_MS = 2000

export interface GuardOptions {
  /** This deployment's id; rejects while the database is away. */
  deployment: () => Promise<string>
  log?: Pick<Logger, 'warn' | 'error'>
  /** Is called when the namespace is another deployment’s, with what to do about it. */
  onOther?: (remedy: string) => void
  freshMs?: number
}

/** Resolves when the namespace is this deployment's, and rejects when it is another's or cannot be asked. */
export type NamespaceGuard = () => Promise<void>

/** Asks Temporal at most once a minute, for all callers. Claims an unclaimed namespace. */
export function createNamespaceGuard(
  connection: Connection,
  namespace: string,
  { deployment, log, onOther, freshMs = FRESH_MS }: GuardOptions,
): NamespaceGuard {
  let checkedAt = Number.NEGATIVE_INFINITY
  let checking: Promise<void> | undefined
  let told = ''
  /** Logs a line once, however many calls lead to it. */
  const tell = (level: 'warn' | 'error', line: string) => {
    if (line !== told) log?.[level](line)
    told = line
  }

  async function check(): Promise<void> {
    const id = await deployment()
    const claim = () => claimNamespace(connection.workflowService, namespace, id)
    try {
      const state = await connection.withDeadline(Date.now() + CALL_LIMIT_MS, claim)
      if (state === 'unmarked')
        tell(
          'warn',
          `Temporal does not let this service mark the namespace ${namespace} as its own: no other deployment may use it.`,
        )
      checkedAt = performance.now()
    } catch (error) {
      if (error instanceof OtherDeployment) {
        tell('error', error.message)
        onOther?.(error.message)
      }
      throw error
    }
  }

  return async () => {
    if (performance.now() - checkedAt < freshMs) return
    checking ??= check().finally(() => (checking = undefined))
    await checking
  }
}

const guardedNames = [
  ...(['startWithDetails', 'signalWithStart', 'signal', 'startUpdate', 'startUpdateWithStart'] as const),
  ...(['query', 'describe', 'cancel', 'terminate'] as const),
]

/** Makes every call about a workflow wait for the guard, so that none reaches another deployment's namespace. */
export function guardedCalls(guard: NamespaceGuard) {
  const after = async <Input, Output>(input: Input, next: (input: Input) => Promise<Output>) => {
    await guard()
    return next(input)
  }
  const workflow: WorkflowClientInterceptor = Object.fromEntries(guardedNames.map((name) => [name, after]))
  return { workflow: [workflow], schedule: [{ create: after }] }
}
