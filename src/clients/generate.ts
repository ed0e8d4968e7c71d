import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Document } from './document.ts'
import { emitCalls, emitTypes } from './python/emit.ts'
import { emit } from './typescript/emit.ts'

const here = import.meta.dirname
const document = JSON.parse(readFileSync(path.join(here, '../../docs/openapi.json'), 'utf8')) as Document
const api = path.join(here, 'typescript/src/api.ts')
writeFileSync(api, await emit(document, api))
writeFileSync(path.join(here, 'python/partner_referrals/types.py'), emitTypes(document))
writeFileSync(path.join(here, 'python/partner_referrals/_calls.py'), emitCalls(document))
