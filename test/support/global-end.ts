export { killSharedService as default } from './global-shared.ts'
