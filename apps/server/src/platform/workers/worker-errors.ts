/** A bound of the pool that a task ran into. */
export type WorkerLimit = 'time' | 'memory' | 'output' | 'queue'

/**
 * A task was stopped or refused because of a limit; the pool and its other tasks go on.
 * Only `queue` says nothing about the task: it may succeed when the pool is less busy.
 */
export class WorkerLimitError extends Error {
  override readonly name = 'WorkerLimitError'
  readonly limit: WorkerLimit

  constructor(limit: WorkerLimit, message: string, options?: ErrorOptions) {
    super(message, options)
    this.limit = limit
  }
}
