// The bot of the demonstration: it answers from its documents. One CommonJS file that exports a handler, as
// the bot SDK makes it; this one is written by hand and needs nothing but Node.

/** Passages in one reply, and their minimum score: below, a passage is about something else. */
const maxQuotes = 2
const minScore = 0.4
/** Passages whose score is nearly that of the best are quoted too. */
const nearlyAsGood = 0.7
const maxQuoteLength = 280

/** Calls the server, as the bot: the address and the key are in the environment of deployed code. */
async function call(botId, method, path, body, headers = {}) {
  const response = await fetch(`${process.env.BP_API_URL}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${process.env.BP_TOKEN}`,
      'content-type': 'application/json',
      'x-bot-id': botId,
      ...headers,
    },
    body: body && JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return await response.json()
}

/** Quotes of the passages that were found. */
async function answerTo(botId, question) {
  const query = new URLSearchParams({
    query: question,
    limit: String(maxQuotes),
    contextDepth: '0',
    withContext: 'true',
  })
  const { passages } = await call(botId, 'GET', `/v1/files/search?${query}`)
  const least = Math.max(minScore, nearlyAsGood * (passages[0]?.score ?? 0))
  const good = passages.filter(({ score }) => score >= least)
  console.log(`${good.length} of ${passages.length} passages answer: ${question}`)
  if (good.length === 0) return 'I found nothing about that in my document.'
  return (await Promise.all(good.map((passage) => quote(botId, passage)))).join('\n\n')
}

/** A passage with its headings, and the address of its file. */
async function quote(botId, { content, file, context = [] }) {
  const lines = content.split('\n').filter((line) => line.trim() !== '')
  const above = context.filter(({ type }) => type === 'breadcrumb').map(({ text }) => text)
  const own = lines.flatMap((line) => /^#{1,6}\s+(.*)$/.exec(line)?.[1] ?? [])
  const text = lines.filter((line) => !line.startsWith('#')).join(' ')
  const path = [file.key, ...above, ...own.filter((each) => !above.includes(each)).slice(0, 1)]
  const found = await call(botId, 'GET', `/v1/files/${file.id}`)
  return `“${cut(text)}”\n— ${path.join(' › ')}\n  ${found.file.url}`
}

/** The beginning of a text, in whole words. */
function cut(text) {
  if (text.length <= maxQuoteLength) return text
  return `${text.slice(0, text.lastIndexOf(' ', maxQuoteLength - 2))} …`
}

/**
 * Replies to a message. The first delivery of one that is no text is refused on purpose, so that the demonstration
 * leaves a failed delivery to look at and to replay.
 */
async function replyTo(botId, event, isFirst) {
  const { type, payload } = event.payload.message
  if (type !== 'text' && isFirst) {
    const message = `This bot refuses a message of the type ${type} once, for you to replay.`
    return { status: 422, body: JSON.stringify({ message }) }
  }
  const text = type === 'text' ? await answerTo(botId, payload.text) : 'Ask me about my document.'
  await call(
    botId,
    'POST',
    '/v1/chat/messages',
    {
      conversationId: event.conversationId,
      userId: botId,
      type: 'text',
      payload: { text },
      tags: {},
    },
    // The same event may be delivered twice; its reply is stored once.
    { 'idempotency-key': event.id },
  )
  return { body: '{}' }
}

exports.handler = async ({ headers, body }) => {
  // Other requests, such as registrations and pings, are acknowledged without any action.
  if (headers['x-bp-type'] !== 'message_created') return { body: '{}' }
  const isFirst = headers['x-botstead-attempt'] === '1'
  return await replyTo(headers['x-bot-id'], JSON.parse(body).event, isFirst)
}
