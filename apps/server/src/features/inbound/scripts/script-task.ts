/** A script and what it works on. */
export interface ScriptInput {
  /** In VRL. */
  script: string
  /** JSON text of what the script sees as `.`. */
  data: string
}

/** The outcome of a script that did not fail. */
export interface ScriptOutcome {
  /** `.` as the script left it. */
  data: unknown
  /** Value of its last expression. */
  result: unknown
}

/** The outcome of a script, or why it could not be compiled or failed. */
export type ScriptOutput = ScriptOutcome | { failure: string }

/** Sent once, when the engine is loaded and the script begins. */
export interface ScriptProgress {
  begins: true
}

/** Memory of the engine, in pages of 64 KiB: 128 MiB. */
export const enginePages = 2048
