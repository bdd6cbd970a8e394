import type { Printer } from './print.js'

/** What the tour has made and calls of one's own need. */
export interface Made {
  address: string
  token: string
  workspaceId: string
  botId: string
  chatAddress: string
  conversationId: string
  userKey: string
}

/** Calls to try on what the tour has made: each line works as pasted, in any order. */
export function suggest(print: Printer, made: Made): void {
  const bearer = `-H 'Authorization: Bearer ${made.token}'`
  const json = "-H 'Content-Type: application/json'"
  const message = JSON.stringify({
    conversationId: made.conversationId,
    payload: { type: 'text', text: 'How does the server stop?' },
  })
  print.title('Try next, in another terminal:')
  print.command(
    'Ask the document something else',
    `curl -G '${made.address}/v1/files/search' --data-urlencode 'query=How does the server stop?' -d limit=1 ${bearer} -H 'x-bot-id: ${made.botId}'`,
  )
  print.command(
    'Ask the bot, as Ada with her user key',
    `curl -X POST '${made.chatAddress}/messages' -H 'x-user-key: ${made.userKey}' ${json} -d '${message}'`,
  )
  print.command(
    'Read the conversation: the answer of the bot is the newest message',
    `curl '${made.chatAddress}/conversations/${made.conversationId}/messages' -H 'x-user-key: ${made.userKey}'`,
  )
  print.command(
    'List the bots',
    `curl '${made.address}/v1/admin/bots' ${bearer} -H 'x-workspace-id: ${made.workspaceId}'`,
  )
  print.command('See all operations, in the browser', `${made.address}/docs`)
}
