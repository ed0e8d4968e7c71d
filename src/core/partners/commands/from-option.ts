import { InvalidArgumentError, Option } from 'commander'
import { networkOf } from '../../values/networks.ts'

const MOST_NETWORKS = 50

/** `--from`, repeated or with commas: addresses and networks. */
export function fromOption(meaning: string): Option {
  return new Option('--from <addresses>', `${meaning}: such as 203.0.113.7 or 203.0.113.0/24`).argParser(
    addNetworks,
  )
}

function addNetworks(text: string, before: string[] = []): string[] {
  const networks = new Set(before)
  for (const entry of text.split(',')) networks.add(read(entry.trim()))
  if (networks.size > MOST_NETWORKS)
    throw new InvalidArgumentError(`A key can be bound to ${MOST_NETWORKS} addresses and networks.`)
  return [...networks]
}

function read(entry: string): string {
  try {
    return networkOf(entry)
  } catch (error) {
    throw new InvalidArgumentError(`"${entry}" ${(error as Error).message}.`)
  }
}
