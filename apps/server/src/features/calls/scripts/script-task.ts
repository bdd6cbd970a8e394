/** A script and what it works on. */
export interface ScriptInput {
  /** In VRL. */
  script: string
  /** JSON text of what the script sees as `.`. */
  data: string
}

/** What a script made of its data: it failed, or it ended. */
export type ScriptOutput =
  | { failure: string }
  | {
      /** `.` as the script left it. */
      data: unknown
      /** Value of the last expression. */
      result: unknown
    }

/** Sent once, when the engine is loaded and the script begins. */
export interface ScriptProgress {
  begins: true
}

/** Memory of the engine, in pages of 64 KiB: 128 MiB. */
export const enginePages = 2048
