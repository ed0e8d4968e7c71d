import { retentionDays } from '../../../core/values/retention-days.ts'
import type { StaffContext } from '../../../staff/context.ts'
import { Refusal } from '../../../staff/refusal.ts'

type Name = keyof typeof retentionDays
export type Limits = StaffContext['config'] & Record<Name, number | null>

/**
 * Staff's settings with how old data may become. In production they have to say it: the workers may have other limits than
 * the default ones, and what retention removes is gone.
 *
 * @throws {Refusal}
 */
export function limitsOf(config: StaffContext['config']): Limits {
  const names = Object.keys(retentionDays) as Name[]
  const missing = names.filter((name) => config[name] === undefined)
  if (config.ENVIRONMENT === 'production' && missing.length > 0)
    throw new Refusal(
      `Set ${missing.join(', ')} as the workers have them, or to the defaults of docs/settings.md: what retention removes is gone.`,
    )
  const days = names.map((name) => [name, config[name] === undefined ? retentionDays[name] : config[name]])
  return { ...config, ...(Object.fromEntries(days) as Record<Name, number | null>) }
}
