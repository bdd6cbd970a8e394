import { describe, expect, it } from 'vitest'
import { describeEachEngine } from '../../../test/engines.js'
import { useFiles } from '../../../test/files.js'

describeEachEngine('search', (engine) => {
  const bench = useFiles(engine)

  describe('a Markdown file', () => {
    it('is found by its words', async () => {
      const bot = bench().newBot()
      const file = await bot.uploadAndWait(
        { key: 'pump.md', index: true },
        '# Pump\n\nThe pump runs on water.\n\n## Start\n\nTurn the red valve.\n',
      )
      expect(file).toMatchObject({ status: 'indexing_completed', indexingStack: 'v1' })
      const { passages } = await bot.as().searchFiles({ query: 'How do I turn the valve?' })
      expect(passages[0]?.content).toContain('red valve')
    })
  })
})
