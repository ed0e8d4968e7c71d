export const BARE_QUEUE = 'bare'
/** Asks a worker for the milliseconds that it has spent collecting garbage. */
export const GARBAGE = 'garbage'
