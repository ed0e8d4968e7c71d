/**
 * Bounds what a partner has under way at a time, in this process.
 *
 * @returns `too_many` without doing `work`.
 */
export function fewAtATime(most: number) {
  const underWay = new Map<number, number>()
  return async <Result>(partnerId: number, work: () => Promise<Result>): Promise<Result | 'too_many'> => {
    const count = underWay.get(partnerId) ?? 0
    if (count >= most) return 'too_many'
    underWay.set(partnerId, count + 1)
    try {
      return await work()
    } finally {
      const left = (underWay.get(partnerId) ?? 1) - 1
      if (left === 0) underWay.delete(partnerId)
      else underWay.set(partnerId, left)
    }
  }
}
