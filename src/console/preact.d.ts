// The browser gets htm/preact/standalone as /console/preact.js.
export * from 'htm/preact'

export { createContext } from 'preact'
