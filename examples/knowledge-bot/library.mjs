import { mentions, quote } from './quote.mjs'

/** Maximum number of quotes in a reply, and the minimum score of a passage: below, it is about something else. */
const most = 3
const leastScore = 0.4
/** Passages whose score is nearly that of the best are quoted too. */
const nearlyAsGood = 0.7

/**
 * Searches the indexed files of the bot.
 * @returns the sources, best first; empty without a match
 */
export async function lookUp(client, question) {
  const { passages } = await client.searchFiles({
    query: question,
    limit: 2 * most,
    contextDepth: 0,
    withContext: true,
  })
  const least = Math.max(leastScore, nearlyAsGood * (passages[0]?.score ?? 0))
  const good = passages.filter(({ score }) => score >= least).slice(0, most)
  const found = await Promise.all(good.map((passage) => toSource(client, question, passage)))
  // A passage of headings alone has nothing to quote.
  const sources = found.filter(({ quote }) => quote !== '')
  // The best one may use other words; the following ones only add to it.
  return sources.filter((source, at) => at === 0 || mentions(source.quote, question))
}

async function toSource(client, question, { content, meta, file, context = [] }) {
  const above = context.filter(({ type }) => type === 'breadcrumb').map(({ text }) => text)
  const own = /^#{1,6}\s+(.+)$/m.exec(content)?.[1]
  const all = own === undefined || above.includes(own) ? above : [...above, own]
  // A document without a title gets the name of its file as a heading, which the key contains already.
  const headings = all.filter(
    (heading, at) => at > 0 || !lettersOf(file.key).includes(lettersOf(heading)),
  )
  const page = meta.pageNumber
  return {
    content,
    quote: quote(content, question),
    location: [file.key, ...headings].join(' › ') + (page === undefined ? '' : `, page ${page}`),
    link: meta.sourceUrl ?? (await linkTo(client, file.id, page)),
  }
}

function lettersOf(text) {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '')
}

/** The address of the content; it is signed and valid for an hour, unless the file is public. */
async function linkTo(client, id, page) {
  const { file } = await client.getFile({ id })
  return page === undefined ? file.url : `${file.url}#page=${page}`
}
