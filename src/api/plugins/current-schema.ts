import plugin from 'fastify-plugin'
import { ApiError } from '../../errors.ts'

/** How long a partner should wait for a migration, in seconds. */
const RETRY_AFTER_SECONDS = '5'

/**
 * Keeps requests from a database that is still to be migrated, where they would fail in ways of which nobody can
 * make sense. One without a key asks nothing of the database.
 */
export const currentSchema = plugin<{ isSchemaCurrent: () => Promise<boolean> }>(
  async (app, { isSchemaCurrent }) => {
    app.addHook('onRequest', async ({ headers }) => {
      if (headers.authorization === undefined || (await isSchemaCurrent())) return
      throw new ApiError('SERVICE_UNAVAILABLE', undefined, { 'retry-after': RETRY_AFTER_SECONDS })
    })
  },
)
