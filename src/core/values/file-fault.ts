/** Codes that no network has. */
const CODES = new Set(['EDQUOT', 'EEXIST', 'EIO', 'EISDIR', 'ENOSPC', 'ENOTDIR', 'EROFS'])

/** Whether an error says that a file or folder cannot be used, rather than a server. */
export function isFileFault(error: unknown): error is NodeJS.ErrnoException {
  if (typeof error !== 'object' || error === null || !('syscall' in error)) return false
  // a socket of a file has an address
  return 'path' in error || ('code' in error && CODES.has(String(error.code)))
}
