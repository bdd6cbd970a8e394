import { defineConfig } from 'vitest/config'

/** The package stands alone: `npm test -w packages/json-schema` starts no server and no database. */
export default defineConfig({ test: { include: ['test/**/*.test.ts'] } })
