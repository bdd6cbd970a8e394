import { codeName } from './load.js'

/** Most causes of an error that are reported: a chain of causes may be circular. */
const mostCauses = 3

/** An error with its stack and its causes. */
export function textOf(error: unknown, causes = mostCauses): string {
  if (!(error instanceof Error)) return String(error)
  const text = stackInCode(error.stack ?? error.message)
  if (error.cause === undefined || causes === 0) return text
  return `${text}\nCaused by ${textOf(error.cause, causes - 1)}`
}

/** Leaves out the frames of a stack that are not in the code, but in Node and this program. */
function stackInCode(stack: string): string {
  const isForeign = (line: string) => /^ {4}at /.test(line) && !line.includes(codeName)
  return stack
    .split('\n')
    .filter((line) => !isForeign(line))
    .join('\n')
}
