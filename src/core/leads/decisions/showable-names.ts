const SHOWABLE = /^[A-Za-z0-9_.-]{1,64}$/
const MOST_SHOWN = 5

/** Whether a name that a stranger chose may be shown and kept: it is a name, and hardly anything that it should hide. */
export function isShowable(name: string): boolean {
  return SHOWABLE.test(name)
}

/** Names that a stranger chose, as a list in words: those that may be shown, and how many others there are. */
export function listOf(names: readonly string[]): string {
  const shown = names.filter(isShowable).slice(0, MOST_SHOWN)
  const others = names.length - shown.length
  if (others === 0) return shown.join(', ')
  return shown.length === 0 ? `${others} with unusual names` : `${shown.join(', ')} and ${others} more`
}
