import type { Connection } from '@temporalio/client'

/** Makes an empty namespace, whose workflows are kept for a day after their end. */
export async function registerNamespace(
  { workflowService }: Pick<Connection, 'workflowService'>,
  namespace: string,
): Promise<void> {
  await workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  })
}
