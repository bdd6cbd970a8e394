/** A fault for which a script does not compile, in words for its author. */
export interface ScriptFault {
  reason: string
  /** Line and column from 1, in characters; undefined if the fault has no place. */
  place: { line: number; column: number } | undefined
}

/** Ends a script before its first expression: all of it is compiled, and nothing of it is run. */
const end = 'abort\n'

/** A script that only compiles another one. */
export function compilingScript(script: string): string {
  return `${end}${script}`
}

/**
 * The fault in a script whose `compilingScript` failed; undefined if it compiles.
 * @param message of the failure, which is a report of the compiler in several lines
 */
export function faultOf(script: string, message: string): ScriptFault | undefined {
  if (!message.startsWith('Compilation Error')) return undefined
  const what = /^message: (.*)$/m.exec(message)?.[1] ?? 'it is not valid'
  const [, offset, label = ''] = /^ *- \[(\d+), \d+\]: (.*)$/m.exec(message) ?? []
  const reason = label === '' || label === what ? what : `${what}, ${label}`
  return { reason, place: offset === undefined ? undefined : placeIn(script, Number(offset)) }
}

/** @param offset in bytes of UTF-8, behind `end` */
function placeIn(script: string, offset: number) {
  const before = Buffer.from(script).subarray(0, Math.max(0, offset - end.length))
  const lines = before.toString().split('\n')
  return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 }
}
