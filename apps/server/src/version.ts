import { createRequire } from 'node:module'

const manifest: { version: string } = createRequire(import.meta.url)('../package.json')

/** Version of the server, as its package says. */
export const version = manifest.version
