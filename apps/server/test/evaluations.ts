import type { Client } from '@botstead/contract'
import { expect, vi } from 'vitest'
import type { FilesBench, TestBot } from './files.js'

/** Makes passages as small as possible, so that neighbours are distinct. */
export const smallPassages = {
  configuration: {
    parsing: { minimumParagraphLength: 0 },
    chunking: { maximumChunkLength: 64 },
  },
}

export const pumpManual = `# Pump

The pump moves water.

## Start

Turn the red valve to the left.

## Stop

Push the yellow button.
`

/** A bot with some documents. */
export async function newBotWithFiles(bench: FilesBench): Promise<TestBot> {
  const bot = bench.newBot()
  const upload = (key: string, content: string) =>
    bot.uploadAndWait({ key, index: true, indexing: smallPassages }, content)
  await upload('pump.md', pumpManual)
  await upload('valves.txt', 'A valve closes a pipe.\n\nThe green valve is a spare part.')
  await upload('eval/d1', 'The lamp glows in the dark.')
  return bot
}

export async function newEvaluationSet(bot: TestBot, name = 'Questions') {
  return (await bot.as().createEvaluationSet({ name })).evaluationSet
}

/** Id of the passage of a file that has a text. */
export async function passageOf(bot: TestBot, file: string, text: string): Promise<string> {
  const { passages } = await bot.as().listFilePassages({ id: file, limit: 100 })
  const found = passages.find(({ content }) => content.includes(text))
  if (found === undefined) throw new Error(`No passage has ${text}`)
  return found.id
}

/** A run once it has ended. */
export async function untilRunEnded(bot: TestBot, id: string, runId: string) {
  return await vi.waitFor(
    async () => {
      const { evaluationRun } = await bot.as().getEvaluationRun({ id, runId })
      expect(['completed', 'failed']).toContain(evaluationRun.state)
      return evaluationRun
    },
    // A run has many searches, and runs of other sets before it.
    { timeout: 20_000, interval: 20 },
  )
}

/** Starts a run and returns it once it has ended. */
export async function runOf(bot: TestBot, input: Parameters<Client['startEvaluationRun']>[0]) {
  const { evaluationRun } = await bot.as().startEvaluationRun(input)
  return await untilRunEnded(bot, input.id, evaluationRun.id)
}
