import path from 'node:path'
import { temporaryFolder } from './folder.ts'

/** What a service needs to be production's. */
export const productionSettings = (settings: Record<string, string> = {}): Record<string, string> => ({
  ENVIRONMENT: 'production',
  WEBHOOK_ALLOW_PRIVATE_NETWORK: '',
  ALLOW_PLAINTEXT: 'smtp,score_provider,database',
  SMTP_URL: 'smtp://127.0.0.1:1',
  MAIL_FROM: 'us@example.com',
  MAIL_REPLY_TO: 'help@example.com',
  MAIL_FOOTER: 'Example Inc., 1 Main Street',
  STAFF_EMAIL: 'staff@service.example',
  SCORE_PROVIDER_URL: 'http://127.0.0.1:1',
  ERASURE_LOG: path.join(temporaryFolder(), 'erasures.jsonl'),
  ...settings,
})
