/** How old data may become, in days, where nobody says otherwise. */
export const retentionDays = {
  RETENTION_LEADS_DAYS: 730,
  RETENTION_ATTEMPTS_DAYS: 30,
  RETENTION_NOTICES_DAYS: 90,
  RETENTION_ENDPOINTS_DAYS: 365,
}
