import type { Sql } from '../database/sql.ts'
import { findPartner } from './partner.ts'
import { printable } from '../staff/answer.ts'
import { Refusal } from '../staff/refusal.ts'

export const noSuchPartner = (partner: number) =>
  new Refusal(`There is no partner ${partner}: see "partner list".`)

/** The partner's name. */
export async function requirePartner(sql: Sql, partner: number): Promise<string> {
  const found = await findPartner(sql, partner)
  if (found === undefined) throw noSuchPartner(partner)
  return printable(found.name)
}
