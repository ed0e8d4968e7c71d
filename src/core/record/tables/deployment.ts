import { defineEntity, p } from '@mikro-orm/core'
import { type Environment, environments } from '../../values/environment.ts'
import { instant, oneOf } from '../../database/columns.ts'

/** Whose record this database holds: its one row is made once and stays. */
export const Deployment = defineEntity({
  name: 'Deployment',
  tableName: 'deployment',
  properties: {
    id: p.uuid().primary(),
    environment: p.text().$type<Environment>(),
    createdAt: instant().defaultRaw('now()'),
    /** In seconds since 2026; staff raise it when the record was restored: see `epoch.ts`. */
    epoch: p.integer(),
  },
  checks: [{ name: 'deployment_environment_check', expression: oneOf('environment', environments) }],
  indexes: [
    {
      name: 'deployment_only_one_index',
      expression: 'create unique index deployment_only_one_index on deployment ((true))',
    },
  ],
})
