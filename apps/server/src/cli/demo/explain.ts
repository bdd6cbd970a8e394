import { isErrorType } from '@botstead/contract'

/** A failure for a person: what happened, and what they can do about it. */
export interface Explained {
  what: string
  advice: string
}

/** A failure of the demonstration itself, which knows what can be done about it. */
export class DemoError extends Error {
  override name = 'DemoError'
  readonly advice: string

  constructor(message: string, advice: string) {
    super(message)
    this.advice = advice
  }
}

const proxyAdvice =
  'The call did not reach the server. If this machine uses a proxy, exclude the server and try again: NO_PROXY=localhost,127.0.0.1'

/** Says what a failed step means for whoever sees it. */
export function explain(error: unknown): Explained {
  if (error instanceof DemoError) return { what: error.message, advice: error.advice }
  const message = error instanceof Error ? error.message : String(error)
  const { type, id } = factsOf(error)
  // The client packages call everything `Unknown` that is not the standard error body.
  if (!isErrorType(type) || type === 'Unknown') return { what: message, advice: proxyAdvice }
  const what = `${type}: ${message}`
  if (type === 'Internal') {
    return {
      what,
      advice: `This is a fault of the server. The log lines above with ${id} have its cause: please open an issue with them.`,
    }
  }
  return {
    what,
    advice: `The server refused the call (${id}), which no step expects. If this checkout has no changes, please open an issue with this output.`,
  }
}

function factsOf(error: unknown): { type: unknown; id: string } {
  if (!(error instanceof Error)) return { type: undefined, id: '' }
  const type = 'type' in error ? error.type : undefined
  const id = 'id' in error && typeof error.id === 'string' ? error.id : 'without an id'
  return { type, id }
}
