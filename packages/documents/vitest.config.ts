import { defineConfig } from 'vitest/config'

/** The package stands alone: `npm test -w packages/documents` starts no server and no database. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/property-tests.ts'],
    // As in the suite of the whole product: only what hangs takes as long.
    testTimeout: 120_000,
  },
})
