import type { Client, WorkflowExecutionInfo } from '@temporalio/client'

/** A page of a thousand takes a fraction of a second. */
const PAGE_LIMIT_MS = 10_000
const PAGE = 1000

interface Options {
  pageSize?: number
  pageLimitMs?: number
}

/**
 * The workflows that a query finds, from the visibility store, which may be slightly behind. However many they are, each
 * page must come within its limit: without one, a call to a Temporal that has fallen silent never ends.
 */
export async function* listWorkflows(
  client: Client,
  query: string,
  { pageSize = PAGE, pageLimitMs = PAGE_LIMIT_MS }: Options = {},
): AsyncGenerator<WorkflowExecutionInfo> {
  const found = client.workflow.list({ query, pageSize })[Symbol.asyncIterator]()
  const next = () => client.withDeadline(Date.now() + pageLimitMs, async () => found.next())
  for (let each = await next(); !each.done; each = await next()) yield each.value
}

/** How many workflows a query finds. */
export async function countWorkflows(client: Client, query: string): Promise<number> {
  const count = () => client.workflow.count(query)
  return (await client.withDeadline(Date.now() + PAGE_LIMIT_MS, count)).count
}
