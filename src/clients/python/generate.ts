import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Document } from '../document.ts'
import { emitCalls } from './emit-calls.ts'
import { emitTypes } from './emit-types.ts'

const here = import.meta.dirname
const document = JSON.parse(readFileSync(path.join(here, '../../../docs/openapi.json'), 'utf8')) as Document
writeFileSync(path.join(here, 'partner_referrals/types.py'), emitTypes(document))
writeFileSync(path.join(here, 'partner_referrals/_calls.py'), emitCalls(document))
