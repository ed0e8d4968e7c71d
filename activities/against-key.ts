/** What staff can do about a request that was made with an API key, and about the key: lines of an email to them. */
export function againstKey(requestedBy: string, command: 'closing' | 'erasure'): string[] {
  if (!requestedBy.startsWith('key ')) return []
  const key = requestedBy.replace('key ', '')
  return [
    `To cancel all that this key asked for: npm run staff -- ${command} cancel --key ${key}`,
    `To revoke the key: npm run staff -- key revoke ${key}`,
  ]
}
