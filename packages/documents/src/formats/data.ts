import type { BlockContent, Root } from 'mdast'
import { DEEPEST, toBlocks, tooDeep } from './data-blocks.js'
import { charsetOf, decodeText } from './decode.js'
import { ExtractionError } from './extraction-error.js'
import type { Extraction, Source } from './extractor.js'
import { createTextLimit } from './page-limit.js'
import { requireReadable } from './requirements.js'

/** Quotes, braces and indentation. */
const MARKUP = 4
/** Times that aliases may repeat what they stand for: more are a bomb. */
const MOST_ALIASES = 100

/** Reads JSON, JSON lines and YAML: objects become sections and lists, lists of objects tables. */
export async function extract(source: Source): Promise<Extraction> {
  const decoded = decodeText(source.bytes, charsetOf(source.contentType))
  const text = requireReadable(decoded, source, MARKUP)
  const isYaml = /yaml/i.test(source.contentType) || /\.ya?ml$/i.test(source.key)
  const values = isYaml ? await parseYaml(text) : parseJson(text)
  const count = createTextLimit(source)
  const children: BlockContent[] = values.flatMap((value) => toBlocks(value, count))
  const root: Root = { type: 'root', children }
  const title = titleOf(values)
  return title === undefined ? { root } : { root, title }
}

function parseJson(text: string): unknown[] {
  try {
    return [JSON.parse(text)]
  } catch (error) {
    return parseLines(text) ?? fail('JSON', error)
  }
}

/** One value per line, as logs and data sets are written. */
function parseLines(text: string): unknown[] | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length < 2) return undefined
  try {
    return [lines.map((line): unknown => JSON.parse(line))]
  } catch {
    return undefined
  }
}

async function parseYaml(text: string): Promise<unknown[]> {
  const { Lexer, parseAllDocuments } = await import('yaml')
  requireFlat(new Lexer().lex(text))
  const documents = parseAllDocuments(text, { logLevel: 'silent' })
  // An empty list of documents says so in a way of its own.
  const listed = Array.isArray(documents) ? documents : []
  return listed.map((document): unknown => {
    const [error] = document.errors
    if (error !== undefined) return fail('YAML', error)
    try {
      return document.toJS({ maxAliasCount: MOST_ALIASES })
    } catch (failure) {
      if (failure instanceof ReferenceError) throw tooManyAliases(failure)
      return fail('YAML', failure)
    }
  })
}

/**
 * The parser goes down by recursion and takes much memory for each level, so brackets are counted before it.
 *
 * @throws ExtractionError if they are nested too deeply
 */
function requireFlat(lexemes: Iterable<string>): void {
  let depth = 0
  for (const lexeme of lexemes) {
    if (lexeme === '[' || lexeme === '{') depth += 1
    else if (lexeme === ']' || lexeme === '}') depth -= 1
    if (depth > DEEPEST) throw tooDeep()
  }
}

function titleOf(values: readonly unknown[]): string | undefined {
  const [value] = values
  if (typeof value !== 'object' || value === null || values.length > 1) return undefined
  const { title, name } = value as { title?: unknown; name?: unknown }
  const stated = [title, name].find((each) => typeof each === 'string' && each.trim() !== '')
  return typeof stated === 'string' ? stated.replace(/\s+/g, ' ').trim() : undefined
}

function tooManyAliases(cause: Error): ExtractionError {
  return new ExtractionError(
    'too_large',
    `The aliases of the YAML repeat more than ${MOST_ALIASES} times what they stand for, or stand for nothing (${cause.message}). ` +
      'Write out what they stand for, and upload it again.',
    { cause },
  )
}

function fail(format: string, error: unknown): never {
  // Lists in lists without brackets: how deep they are, the parser finds out by running out of stack.
  if (error instanceof Error && /call stack/i.test(error.message)) throw tooDeep()
  const detail =
    error instanceof Error ? error.message.split('\n')[0]?.replace(/:$/, '') : String(error)
  throw new ExtractionError(
    'damaged',
    `The file is not valid ${format} (${detail}). Correct it and upload it again, or upload it as plain text.`,
    { cause: error },
  )
}
