const LARGEST_ID = 2 ** 31 - 1

/** Whether an id can be a lead's: 32-bit and positive. Any other integer is an unknown lead's. */
export function isStorableId(id: number): boolean {
  return id > 0 && id <= LARGEST_ID
}
