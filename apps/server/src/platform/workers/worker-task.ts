import { move } from 'piscina'

/** What the pool sends to a worker for one task. */
export interface TaskEnvelope<Input> {
  input: Input
  maximumOutputBytes: number
}

/**
 * Makes the function that a worker's module exports under the name `task`.
 *
 * The output is checked and encoded in the worker and handed over without a copy, so that an output
 * without bound never reaches the main thread.
 *
 * @param handler does one task; its output must survive JSON
 * @returns a function that answers with the encoded output, or its size if that is over the limit
 */
export function defineTask<Input, Output>(handler: (input: Input) => Promise<Output>) {
  return async (envelope: TaskEnvelope<Input>) => {
    const output = new TextEncoder().encode(JSON.stringify(await handler(envelope.input)))
    return output.byteLength > envelope.maximumOutputBytes ? output.byteLength : move(output)
  }
}
