/** In examples only: what the reference signs its example webhooks with. */
export const EXAMPLE_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
