import type { Waiting } from '../../metrics/waiting.ts'
import { firstKeyEndDays } from './statements/ending-keys.ts'

/** What the metrics tell of keys that end while their partners use them. */
export const endingKeys: Waiting = {
  help: { referrals_api_key_days_left: 'Days until the first API key ends that was used within a day' },
  read: async (sql) => ({ referrals_api_key_days_left: await firstKeyEndDays(sql) }),
}
