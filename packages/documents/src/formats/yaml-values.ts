import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  parseAllDocuments,
  type Scalar,
} from 'yaml'
import { ExtractionError } from '../document/extraction.js'
import { requirePieces } from '../document/limits.js'
import { type Members, maxDepth, tooDeep, type Value } from './data-values.js'

/** Values that the aliases of a document may repeat in all; more are an attack. */
const maxRepeated = 20_000
/** Tokens of a file, such as a dash, a key, a colon or a line end: the parser keeps each of them. */
const maxTokens = 2_400_000
/** Spellings of null. */
const nothing = /^(?:~|null|Null|NULL)?$/

/**
 * Reads the documents of a YAML file.
 *
 * @throws Error if the first one that is not valid is met
 * @throws ExtractionError if one is nested too deeply, or repeats too much by aliases
 */
export function readYaml(text: string): Value[] {
  requireFlat(new Lexer().lex(text))
  // In this schema, every plain value is the text that it is written as.
  const options = { schema: 'failsafe', uniqueKeys: false, logLevel: 'silent' } as const
  const documents = parseAllDocuments(text, options)
  // For a text without documents, the parser returns an object that is not a list of documents.
  if (!Array.isArray(documents)) return []
  return documents.flatMap((document) => {
    const [error] = document.errors
    if (error !== undefined) throw error
    const value = createReader(text).read(document)
    return value === null ? [] : [value]
  })
}

/**
 * Counts brackets and tokens before parsing, because the parser is recursive and takes much memory for each of them.
 *
 * @throws ExtractionError if brackets are nested too deeply, or if there are too many tokens
 */
function requireFlat(lexemes: Iterable<string>): void {
  let depth = 0
  let count = 0
  for (const lexeme of lexemes) {
    count += 1
    requirePieces(count, 'tokens', maxTokens)
    if (lexeme === '[' || lexeme === '{') depth += 1
    else if (lexeme === ']' || lexeme === '}') depth -= 1
    if (depth > maxDepth) throw tooDeep()
  }
}

/** @param source the text in which the nodes know their places */
function createReader(source: string): { read(document: Document.Parsed): Value } {
  /** The value of each anchor, and its size in values. An anchor may be defined again. */
  const anchors = new Map<string, { value: Value; size: number }>()
  let repeated = 0

  function toValue(node: unknown, depth: number): Value {
    if (depth > maxDepth) throw tooDeep()
    if (isAlias(node)) return repeat(node.source)
    const value = isCollection(node) ? toList(node, depth) : plainValue(node)
    const anchor = isCollection(node) || isScalar(node) ? node.anchor : undefined
    if (anchor !== undefined) anchors.set(anchor, { value, size: sizeOf(value) })
    return value
  }

  function toList(node: unknown, depth: number): Value {
    if (isSeq(node))
      return node.items.map((item) => toValue(isPair(item) ? item.value : item, depth + 1))
    const members: Members = { keys: [], values: [] }
    for (const { key, value } of isMap(node) ? node.items : []) {
      members.keys.push(toKey(toValue(key, depth + 1), key))
      members.values.push(toValue(value, depth + 1))
    }
    return merged(members)
  }

  /** A key of several values, such as the `{ x }` in the braces of a template, has the text of the source. */
  function toKey(key: Value, node: unknown): string {
    if (key === null) return 'null'
    if (typeof key === 'string') return key
    const range = isNode(node) ? node.range : undefined
    return range ? source.slice(range[0], range[1]).replace(/\s+/g, ' ') : JSON.stringify(key)
  }

  function repeat(anchor: string): Value {
    const known = anchors.get(anchor)
    if (known === undefined) throw badAliases(`no anchor ${anchor} above its alias`)
    repeated += known.size
    if (repeated > maxRepeated) throw badAliases(`alias ${anchor}`)
    return known.value
  }

  return { read: (document) => toValue(document.contents, 0) }
}

function plainValue(node: unknown): Value {
  if (!isScalar(node)) return null
  const { value, type } = node as Scalar<unknown>
  const text = typeof value === 'string' ? value : String(node.source ?? value ?? '')
  return type === 'PLAIN' && nothing.test(text) ? null : text
}

/** The members with those of `<<` in its place, unless the object has them itself. */
function merged(members: Members): Members {
  if (!members.keys.includes('<<')) return members
  const own = new Set(members.keys)
  const all: Members = { keys: [], values: [] }
  const add = (key: string, value: Value) => {
    all.keys.push(key)
    all.values.push(value)
  }
  for (const [at, key] of members.keys.entries()) {
    const value = members.values[at] ?? null
    if (key !== '<<' || value === null || typeof value === 'string') {
      add(key, value)
      continue
    }
    for (const base of Array.isArray(value) ? value : [value]) {
      if (base === null || typeof base === 'string' || Array.isArray(base)) continue
      base.keys.forEach((name, place) => {
        if (!own.has(name)) add(name, base.values[place] ?? null)
      })
    }
  }
  return all
}

function sizeOf(value: Value): number {
  if (value === null) return 1
  // Long texts count as several: a key of several values is written out.
  if (typeof value === 'string') return 1 + Math.floor(value.length / 1000)
  const inner = Array.isArray(value) ? value : value.values
  return inner.reduce((sum, each) => sum + sizeOf(each), 1)
}

function badAliases(cause: string): ExtractionError {
  return new ExtractionError(
    'too_large',
    `The aliases of the YAML repeat more than ${maxRepeated.toLocaleString('en')} values, or name no anchor (${cause}). ` +
      'Replace them by the values that they stand for, and upload it again.',
  )
}
