export { endSharedService as default } from './global-shared.ts'
