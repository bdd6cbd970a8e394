/**
 * Why a file cannot be indexed; each stands for something its author can act on. `lost` is the storage's
 * fault and not the file's, and still no further try will find it.
 */
export type ExtractionFailure =
  | 'unsupported'
  | 'binary'
  | 'damaged'
  | 'lost'
  | 'protected'
  | 'no_text'
  | 'empty'
  | 'too_deep'
  | 'too_many_passages'
  | 'too_many_pages'
  | 'too_large'
  | 'too_slow'
  | 'too_much_memory'

/**
 * A file that will not become searchable however often it is tried.
 * The message is shown to the author of the file: it names the cause and what to do about it.
 */
export class ExtractionError extends Error {
  override readonly name = 'ExtractionError'
  /** The kind of failure, for counting and for tests. */
  readonly failure: ExtractionFailure

  constructor(failure: ExtractionFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.failure = failure
  }
}
