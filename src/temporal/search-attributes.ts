import type { Connection } from '@temporalio/client'
import { encodeSearchAttributeIndexedValueType as encode } from '@temporalio/common/lib/search-attributes.js'
import { searchAttributes } from '../domain/search-attributes.ts'

const codeOf = (type: 'INT' | 'KEYWORD' | 'DATETIME') => encode(type) ?? 0
const types = { Int: codeOf('INT'), Keyword: codeOf('KEYWORD'), Datetime: codeOf('DATETIME') }

type Services = Pick<Connection, 'operatorService'>

/**
 * The search attributes that the namespace lacks or has with another type. A workflow that sets one of them
 * would fail its task again and again, so a worker asks before it starts.
 */
export async function missingSearchAttributes(connection: Services, namespace: string): Promise<string[]> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace })
  return Object.entries(searchAttributes)
    .filter(([name, type]) => Number(customAttributes[name]) !== types[type])
    .map(([name]) => name)
}

/** Adds those that are missing; answers how many. */
export async function ensureSearchAttributes(connection: Services, namespace: string): Promise<number> {
  const missing = await missingSearchAttributes(connection, namespace)
  if (missing.length > 0) {
    const wanted = Object.entries(searchAttributes).filter(([name]) => missing.includes(name))
    const added = Object.fromEntries(wanted.map(([name, type]) => [name, types[type]]))
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: added })
  }
  return missing.length
}
