import type { WorkflowHandle } from '@temporalio/client'

/** The search attributes that a workflow is found by, by their names. */
export async function published(handle: WorkflowHandle): Promise<Record<string, unknown>> {
  const { typedSearchAttributes } = await handle.describe()
  return Object.fromEntries(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]))
}
