/** Calls that come at about the same time, handled together. */
export interface Batches<Item, Result> {
  /** Resolves with the result for one item. Rejects when the work on it alone failed too. */
  add(item: Item): Promise<Result>
}

interface Waiting<Item, Result> {
  item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

/**
 * Gathers calls: a batch begins at the end of the turn of the event loop, one at a time, and what comes
 * while one is at work joins the next. Batches grow under load, and without load nothing waits. Each item of
 * a batch that fails is tried once more alone, so that it does not fail because of others.
 *
 * @param max items of one batch
 * @param work returns a result for each item, in their order
 */
export function createBatches<Item, Result>(
  max: number,
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
): Batches<Item, Result> {
  const queue: Waiting<Item, Result>[] = []
  let working = false

  async function next(): Promise<void> {
    const batch = queue.splice(0, max)
    try {
      const results = await work(batch.map(({ item }) => item))
      for (const [at, { resolve }] of batch.entries()) resolve(results[at] as Result)
    } catch {
      batch.forEach(workAlone)
    }
    working = queue.length > 0
    if (working) setImmediate(next)
  }

  async function workAlone({ item, resolve, reject }: Waiting<Item, Result>): Promise<void> {
    try {
      const [result] = await work([item])
      resolve(result as Result)
    } catch (error) {
      reject(error)
    }
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
