/** Pages of `size` rows that `read` answers, each from the place of the last row of the page before. */
export async function* pages<Row, Place>(
  size: number,
  first: Place,
  read: (after: Place, limit: number) => Promise<Row[]>,
  placeOf: (row: Row) => Place,
): AsyncGenerator<Row[]> {
  let after = first
  for (;;) {
    const rows = await read(after, size)
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    if (rows.length < size) return
    after = placeOf(last)
  }
}
