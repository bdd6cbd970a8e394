import { defineConfig, type Plugin } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Journeys first, and then what tests the whole server: they take longest, and the last file should not
 * keep the other processes waiting.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      ['/test/journeys/', '/apps/server/test/', ''].findIndex((part) => moduleId.includes(part))
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

/**
 * Servers under test start their workers as built by the global setup, as in production. From source
 * each of them would load the compiler first, which takes longer than what it is to do.
 */
const builtWorkers: Plugin = {
  name: 'built-workers',
  transform: (code, id) =>
    id.includes('/apps/server/src/features/')
      ? code.replace(
          /(new URL\(["']\.\/\w+-worker\.js["'], import\.meta\.url)\)/,
          `$1.replace('/apps/server/src/', '/apps/server/dist/'))`,
        )
      : undefined,
}

export default defineConfig({
  plugins: [builtWorkers],
  resolve: { conditions: ['botstead:source'] },
  ssr: { resolve: { conditions: ['botstead:source'] } },
  test: {
    include: ['packages/*/{src,test}/**/*.test.ts', 'apps/*/{src,test}/**/*.test.ts'],
    globalSetup: ['apps/server/test/global-setup.ts'],
    setupFiles: ['apps/server/test/property-tests.ts', 'apps/server/test/patience.ts'],
    // Files share a process and what is loaded in it: loading the server anew for each of them took
    // as long as most of their tests. No test may leave changed what belongs to all.
    isolate: false,
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Only what hangs takes as long: on a machine with five times the work, a minute is soon over.
    testTimeout: 120_000,
    hookTimeout: 240_000,
  },
})
