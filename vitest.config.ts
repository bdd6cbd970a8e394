import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: { conditions: ['botstead:source'] },
  ssr: { resolve: { conditions: ['botstead:source'] } },
  test: {
    include: ['packages/*/{src,test}/**/*.test.ts', 'apps/*/{src,test}/**/*.test.ts'],
    globalSetup: ['apps/server/test/global-setup.ts'],
    testTimeout: 60_000,
    maxWorkers: 2,
    hookTimeout: 120_000,
  },
})
