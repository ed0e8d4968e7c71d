import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Document } from '../document.ts'
import { emit } from './emit.ts'

const here = import.meta.dirname
const document = JSON.parse(readFileSync(path.join(here, '../../../docs/openapi.json'), 'utf8')) as Document
writeFileSync(path.join(here, 'src/api.ts'), emit(document))
