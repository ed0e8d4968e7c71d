import { sql as raw } from 'kysely'

/**
 * `pg_locks` of one table of this database. A table's number says too little: databases of tests are copies of one
 * template, and theirs have the same.
 */
export const locksOf = (table: string) => raw`(select * from pg_locks where relation = ${table}::regclass
  and database = (select oid from pg_database where datname = current_database())) as locks`
