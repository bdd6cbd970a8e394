import type { Client } from '@botstead/contract'
import { Command, InvalidArgumentError } from 'commander'
import { printable } from '../platform/terminal-text.js'
import { addConnectionOptions, addTag, type ConnectionOptions, connect } from './connection.js'
import { notices, out, type Part, paint } from './terminal.js'
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
      for (const passage of passages) out.json(passage)
      return
    }
    if (passages.length === 0) notices.line('Nothing was found.')
    for (const [at, passage] of passages.entries()) printPassage(passage, at + 1, query)
  })
}

/** Prints a passage: its file and page, its headings and its content. */
function printPassage(passage: Passage, rank: number, query: string): void {
  const { meta, file, score, explanation, context = [] } = passage
  const page = meta.pageNumber === undefined ? '' : `, page ${meta.pageNumber}`
  const scores = Object.entries(explanation ?? {}).map(
    ([retriever, score]) => `${retriever} ${score.toFixed(2)}`,
  )
  const why = scores.length === 0 ? '' : `  (${scores.join(', ')})`
  const headings = context.flatMap(({ type, text }) => (type === 'breadcrumb' ? [text] : []))
  out.line(`${rank}. ${file.key}${page}  ${score.toFixed(2)}${why}`)
  if (headings.length > 0) out.line(`${indent}${headings.join(' › ')}`)
  for (const line of layOut(printable(passage.content), width)) {
    out.line(indent, ...(out.hasColors() ? highlight(line, query) : [line]))
  }
  out.line('')
}

/** Marks the words that begin like a word of the query, so that other forms of it are marked too. */
function highlight(line: string, query: string): Part[] {
  const words = query.match(/[\p{L}\p{N}]{3,}/gu) ?? []
  if (words.length === 0) return [line]
  const stems = words.map((word) => word.slice(0, Math.max(3, word.length - 2)))
  const pattern = new RegExp(`((?<![\\p{L}\\p{N}])(?:${stems.join('|')})[\\p{L}\\p{N}]*)`, 'giu')
  // Every second part is a match of the group.
  return line.split(pattern).map((part, at) => (at % 2 === 0 ? part : paint('bold', part)))
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
