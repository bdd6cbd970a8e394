// Limits the length of functions and refuses late hooks of slices: rules of `npm run check:walls`.
import { parseSync, Visitor } from 'oxc-parser'

/** Maximum number of lines of a function: it should nearly fit on a screen. */
const maxLines = 150

/** Every function of a file that is too long, by its name. */
function* longFunctionsOf(path, text) {
  // Quicker than a parse of every file.
  if (text.split('\n', maxLines + 1).length <= maxLines) return
  const { program } = parseSync(path, text)
  const found = []
  const look = ({ id, body, start, end }) => {
    const lines = body ? text.slice(start, end).split('\n').length : 0
    if (lines > maxLines) found.push({ name: id?.name ?? 'a function without a name', lines })
  }
  new Visitor({
    FunctionDeclaration: look,
    FunctionExpression: look,
    ArrowFunctionExpression: look,
  }).visit(program)
  yield* found
}

/**
 * Functions that are too long.
 * @param known names of those that may be, as `path name`
 */
export function* functionFaults(sources, known) {
  const left = new Set(known)
  for (const [path, text] of sources) {
    for (const { name, lines } of longFunctionsOf(path, text)) {
      if (left.delete(`${path} ${name}`)) continue
      yield `${path}: ${name} has ${lines} lines, at most ${maxLines} are allowed: take parts out of it`
    }
  }
  for (const name of left) {
    if (sources.has(name.split(' ')[0]))
      yield `${name} is no longer too long: take it from scripts/walls.mjs`
  }
}

const lateHook = /\bprovide[A-Z]\w*(?=[(:<])/g

/** Methods that complete a slice after it was built. No type shows one that is forgotten. */
export function* lateHookFaults(sources) {
  for (const [path, text] of sources) {
    if (!path.startsWith('apps/server/src/features/')) continue
    for (const [name] of text.matchAll(lateHook)) {
      yield `${path}: ${name} completes a slice later: use a port, which the server does not start without`
    }
  }
}
