import type { Client } from '@temporalio/client'

type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>

/** An event of a workflow's history, as the server has it. */
export type HistoryEvent = NonNullable<History['events']>[number]
