// Limits the length of functions and refuses late hooks of slices: rules of `npm run check:walls`.
import { parseSync, Visitor } from 'oxc-parser'

/** Maximum number of lines of a function: it should nearly fit on a screen. */
export const maxLines = 150

/** Functions of all files with their lengths in lines; methods and arrow functions without a body in braces, too. */
export function measureFunctions(sources) {
  const found = []
  for (const [path, text] of sources) {
    const { program } = parseSync(path, text)
    const look = ({ id, body, start, end }) => {
      const lines = body ? text.slice(start, end).split('\n').length : 0
      if (lines > 0) found.push({ path, name: id?.name ?? 'a function without a name', lines })
    }
    new Visitor({
      FunctionDeclaration: look,
      FunctionExpression: look,
      ArrowFunctionExpression: look,
    }).visit(program)
  }
  return found
}

/** The functions that are too long. */
export function longOf(functions) {
  return functions.filter(({ lines }) => lines > maxLines)
}

/** The breaches of functions that are too long. */
export function* functionFaults(functions) {
  for (const { path, name, lines } of longOf(functions)) {
    yield `${path}: ${name} has ${lines} lines, at most ${maxLines} are allowed: take parts out of it`
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
