import { styleText } from 'node:util'
import type { Client } from '@botstead/contract'
import { Command, InvalidArgumentError } from 'commander'
import { addConnectionOptions, addTag, type ConnectionOptions, connect } from './connection.js'
import { layOut } from './text.js'

interface SearchOptions extends ConnectionOptions {
  limit: number
  minScore?: number
  explain: boolean
  tag: Record<string, string>
  consolidate: boolean
  json: boolean
}

type Passage = Awaited<ReturnType<Client['searchFiles']>>['passages'][number]

const width = 96
const indent = '   '

/** `botstead search`: what a bot would find, through the API. */
export function searchCommand(): Command {
  const command = new Command('search')
    .description('Search the indexed files of a bot.')
    .argument('<question...>', 'what is looked for')
    .option('--limit <count>', 'passages at most, 1 to 50', toCount, 5)
    .option('--min-score <score>', 'omit passages with a lower score, 0 to 1', toScore)
    .option('--tag <name=value>', 'only in files with this tag; may be repeated', addTag, {})
    .option('--consolidate', 'one passage per file, with all its matches', false)
    .option('--explain', 'show the evidence of each retriever', false)
    .option('--json', 'write one JSON object a line', false)
  return addConnectionOptions(command).action(async (words: string[], options: SearchOptions) => {
    const { client } = await connect(options)
    const query = words.join(' ')
    const { passages } = await client.searchFiles({
      query,
      limit: options.limit,
      contextDepth: 0,
      withContext: !options.consolidate,
      consolidate: options.consolidate,
      explain: options.explain,
      ...(Object.keys(options.tag).length > 0 && { tags: options.tag }),
      ...(options.minScore !== undefined && { minScore: options.minScore }),
    })
    if (options.json) {
      for (const passage of passages) process.stdout.write(`${JSON.stringify(passage)}\n`)
      return
    }
    if (passages.length === 0) process.stderr.write('Nothing was found.\n')
    const isTerminal = process.stdout.isTTY === true
    const mark = isTerminal ? (text: string) => styleText('bold', text) : undefined
    passages.forEach((passage, at) => {
      process.stdout.write(`${printPassage(passage, at + 1, { query, mark })}\n`)
    })
  })
}

interface Look {
  query: string
  /** Highlights a text; undefined without colours. */
  mark: ((text: string) => string) | undefined
}

/** Formats a passage: its file and page, its headings and its content. */
function printPassage(passage: Passage, rank: number, { query, mark }: Look): string {
  const { meta, file, score, explanation, context = [] } = passage
  const page = meta.pageNumber === undefined ? '' : `, page ${meta.pageNumber}`
  const scores = Object.entries(explanation ?? {}).map(
    ([retriever, score]) => `${retriever} ${score.toFixed(2)}`,
  )
  const why = scores.length === 0 ? '' : `  (${scores.join(', ')})`
  const headings = context.flatMap(({ type, text }) => (type === 'breadcrumb' ? [text] : []))
  const lines = layOut(passage.content, width)
  return [
    `${rank}. ${file.key}${page}  ${score.toFixed(2)}${why}`,
    ...(headings.length === 0 ? [] : [`${indent}${headings.join(' › ')}`]),
    ...lines.map((line) => `${indent}${mark === undefined ? line : highlight(line, query, mark)}`),
    '',
  ].join('\n')
}

/** Marks the words that begin like a word of the query, so that other forms of it are marked too. */
function highlight(line: string, query: string, mark: (text: string) => string): string {
  const words = query.match(/[\p{L}\p{N}]{3,}/gu) ?? []
  if (words.length === 0) return line
  const stems = words.map((word) => word.slice(0, Math.max(3, word.length - 2)))
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${stems.join('|')})[\\p{L}\\p{N}]*`, 'giu')
  return line.replace(pattern, (found) => mark(found))
}

function toCount(text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= 50) return count
  throw new InvalidArgumentError('It must be a whole number from 1 to 50.')
}

function toScore(text: string): number {
  const score = Number(text)
  if (text.trim() !== '' && score >= 0 && score <= 1) return score
  throw new InvalidArgumentError('It must be a number from 0 to 1.')
}
