import type { FastifyPluginAsync } from 'fastify'
import { registerAll } from '../../../core/http/register-all.ts'
import { getReset } from './get-reset.ts'
import { resetSandbox, type ResetRouteDependencies } from './reset-sandbox.ts'

/** Those by which a partner begins again: nothing in production. */
export const resetRoutes: FastifyPluginAsync<ResetRouteDependencies> = async (app, options) => {
  if (options.environment === 'sandbox') await registerAll(app, [resetSandbox, getReset], options)
}
