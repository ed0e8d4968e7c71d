/** Ids are 32-bit integers. */
export const LARGEST_ID = 2 ** 31 - 1
