/** Calls that come at about the same time, answered by one piece of work. */
export interface Batches<Item, Answer> {
  /** Waits for the answer to one item. Rejects when the work on its batch failed. */
  add(item: Item): Promise<Answer>
}

interface Waiting<Item, Answer> {
  item: Item
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/**
 * Gathers calls: a batch begins at the end of the turn of the event loop, one at a time, and what comes
 * while one is at work goes with the next. A busy time makes batches large without anybody waiting in a
 * quiet one.
 *
 * @param maximum items of one batch
 * @param work answers the items in their order
 */
export function createBatches<Item, Answer>(
  maximum: number,
  work: (items: readonly Item[]) => Promise<readonly Answer[]>,
): Batches<Item, Answer> {
  const queue: Waiting<Item, Answer>[] = []
  let working = false

  async function next(): Promise<void> {
    const batch = queue.splice(0, maximum)
    try {
      const answers = await work(batch.map(({ item }) => item))
      for (const [at, { resolve }] of batch.entries()) resolve(answers[at] as Answer)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    working = queue.length > 0
    if (working) setImmediate(next)
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        queue.push({ item, resolve, reject })
        if (working) return
        working = true
        setImmediate(next)
      }),
  }
}
