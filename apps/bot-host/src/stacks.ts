import { readSourceMap, type SourceMap } from './source-map.js'

/** Name of the code in stacks. */
export const codeName = '/bundle.cjs'

/** Maximum number of reported causes of an error: a chain of causes may be circular. */
const maxCauses = 3
/** Maximum number of stack frames that are examined. */
const maxFrames = 100
/**
 * Maximum number of positions that are looked up for one text: each takes time, and a text of a visitor may contain
 * thousands.
 */
const maxLookUps = 20
/** A position in the code. */
const position = new RegExp(`${codeName.replace('.', '\\.')}:(\\d+):(\\d+)`, 'g')

let mapUrl: () => string | undefined = () => undefined
let map: { read: SourceMap | undefined } | undefined

/**
 * Makes the stacks of errors show where the code came from, in the files of its author if it contains a map of
 * them, and without the frames of Node and of this program, unless there are only these. Call it before the code runs.
 * @param urlOfMap returns the `data:` URL of the map; called when a stack is shown
 */
export function showFilesOfAuthor(urlOfMap: () => string | undefined): void {
  mapUrl = urlOfMap
  Error.prepareStackTrace = (error, frames) => {
    const lines = frames.slice(0, maxFrames).map((frame) => `    at ${frame}`)
    const own = lines.filter((line) => line.includes(codeName))
    return [headOf(error), inFilesOfAuthor((own.length > 0 ? own : lines).join('\n'))].join('\n')
  }
}

/** The first line of a stack, as Node writes it. */
function headOf(error: unknown): string {
  try {
    const text = Error.prototype.toString.call(error)
    const { name, code } = Object(error)
    const isOfNode = typeof code === 'string' && /^ERR_\w+$/.test(code)
    return isOfNode && text.startsWith(`${name}:`)
      ? text.replace(`${name}:`, () => `${name} [${code}]:`)
      : text
  } catch {
    return 'Error'
  }
}

function inFilesOfAuthor(lines: string): string {
  let lookUps = 0
  return lines.replace(position, (text, at: string, column: string) => {
    lookUps += 1
    if (lookUps > maxLookUps) return text
    map ??= { read: readSourceMap(mapUrl()) }
    const place = map.read?.placeOf(Number(at), Number(column))
    return place ? `${place.file}:${place.line}:${place.column}` : text
  })
}

/** An error with its stack and its causes, whatever the code threw. */
export function textOf(error: unknown): string {
  try {
    return withCauses(error, maxCauses)
  } catch {
    return 'An error that cannot be shown'
  }
}

function withCauses(error: unknown, causes: number): string {
  if (!(error instanceof Error)) return String(error)
  const text = stackInCode(String(error.stack ?? error.message))
  if (error.cause === undefined || causes === 0) return text
  return `${text}\nCaused by ${withCauses(error.cause, causes - 1)}`
}

/** For code that makes the texts of stacks itself: leaves out frames that are in Node and in this program. */
function stackInCode(stack: string): string {
  const isForeign = (line: string) =>
    /^ {4}at (?:.*\()?(?:node:|file:\/\/|<anonymous>\)?$)/.test(line) && !line.includes(codeName)
  const lines = stack.split('\n').filter((line) => !isForeign(line))
  return inFilesOfAuthor(lines.join('\n'))
}
