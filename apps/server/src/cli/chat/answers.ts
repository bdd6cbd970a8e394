/** Tells when what was said has been answered. */
export interface Answers {
  /** Something is about to be said: what was heard so far does not answer it. */
  expect(): void
  /** A message of the bot has come as a whole. */
  heard(): void
  /** A piece of a message has come. */
  writing(streamId: string): void
  /** A message that came in pieces is complete, or was given up. */
  finished(streamId: string): void
  /** Waits for an answer and for what follows it closely; resolves whether there was one. */
  settled(): Promise<boolean>
}

/**
 * A bot does not say that it has said everything. So an answer is complete when nothing follows for
 * `quiet` milliseconds, and missing when nothing comes for `timeout` milliseconds.
 */
export function createAnswers({ timeout, quiet }: { timeout: number; quiet: number }): Answers {
  const open = new Set<string>()
  let isAnswered = false
  let wake = () => {}

  const isComplete = () => isAnswered && open.size === 0

  /** Whether something came in time. */
  function somethingWithin(milliseconds: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), milliseconds)
      wake = () => {
        clearTimeout(timer)
        resolve(true)
      }
    })
  }

  return {
    expect() {
      isAnswered = false
    },
    heard() {
      isAnswered = true
      wake()
    },
    writing(streamId) {
      open.add(streamId)
      wake()
    },
    finished(streamId) {
      open.delete(streamId)
      wake()
    },
    async settled() {
      while (await somethingWithin(isComplete() ? quiet : timeout));
      return isComplete()
    },
  }
}
