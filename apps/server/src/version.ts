import { createRequire } from 'node:module'

const manifest: { version: string; engines: { node: string } } = createRequire(import.meta.url)(
  '../package.json',
)

/** Version of the server, as its package says. */
export const version = manifest.version

/** The oldest version of Node that runs it. */
export const neededNode = manifest.engines.node.replace(/^\D*/, '')
