import { existsSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { installGuards } from './guards.js'
import { type HandlerRequest, type HandlerResponse, type LoadedCode, loadCode } from './load.js'
import { readOrder } from './order.js'
import { flushPrinted, reportPrinted } from './printed.js'
import {
  openReports,
  reportFailed,
  reportFault,
  reportReady,
  runWithSubject,
  type Subject,
} from './reports.js'
import { textOf } from './stacks.js'

// The host program: runs the code of one bot or integration. The server starts it, sends it an order on
// its standard input, and calls it over a local socket as it calls a bot at an address. What the code
// prints goes into the log of the bot or integration.

/** Path at which the server asks for the compiled code; calls to the code have `/`. */
const compiledPath = '/compiled'
/** Path at which the server asks whether the event loop runs. */
const healthPath = '/health'

// Either the path of the socket to listen on, and a name that identifies the owner in the list of
// processes; or `probe` and a folder.
const [, , socket = '', nameOrFolder = ''] = process.argv
// The server checks whether a user can read and run this program, and reach the folder.
if (socket === 'probe') process.exit(existsSync(nameOrFolder) ? 0 : 1)
const order = await readOrder()
// The code must not see what a shell or a wrapping command left in the environment.
const { env } = process
for (const name of Object.keys(env)) delete env[name]
Object.assign(env, order.environment)
const server = createServer()
// Before the guards, which refuse to listen.
server.listen(socket)
// Before the code is loaded: until the server has its connection, nothing but this program has run here.
openReports(await untilReader(server), order.reports)
installGuards(order.network)
reportPrinted()
process.on('unhandledRejection', (reason) => {
  // Other requests may be in progress: one forgotten promise must not end them.
  reportFault(() => `Unhandled rejection: ${textOf(reason)}`)
})
try {
  const code = loadCode(order.code, order.compiled)
  server.on('request', (request, response) => {
    if (request.url === compiledPath) sendCompiled(code, response)
    else if (request.url === healthPath) response.writeHead(204).end()
    else void respond(code, request, response)
  })
  reportReady()
} catch (error) {
  process.exitCode = 1
  await reportFailed(textOf(error))
  server.close()
  process.stdin.destroy()
}

/** Waits for the connection of the server that reads the reports: it asks to upgrade it, and sends no more. */
async function untilReader(of: Server): Promise<Socket> {
  return await new Promise((resolve) => {
    of.once('upgrade', (_, connection) => {
      if (!(connection instanceof Socket)) return
      // Others find no listener, and are closed by the server.
      connection.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: reports\r\n\r\n',
      )
      resolve(connection)
    })
  })
}

function sendCompiled(code: LoadedCode, response: ServerResponse): void {
  const compiled = code.compiled()
  if (compiled === undefined) response.writeHead(204).end()
  else end(response, { body: compiled })
}

async function respond(
  code: LoadedCode,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let subject: Subject = {}
  try {
    const body = await readBody(request)
    const { headers, method = 'GET', url = '/' } = request
    const [path = '/', query = ''] = url.split(/\?(.*)/s)
    const given: HandlerRequest = {
      method,
      path,
      query,
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, String(value)]),
      ),
      ...(body !== '' && { body }),
    }
    subject = subjectOf(given)
    const result = await runWithSubject(subject, () => code.handle(given))
    end(response, result)
  } catch (error) {
    reportFault(() => textOf(error), subject)
    if (response.headersSent) response.destroy()
    else end(response, { status: 500, body: JSON.stringify({ error: messageOf(error) }) })
  } finally {
    flushPrinted(subject)
  }
}

type Answer = Omit<HandlerResponse, 'body'> & { body?: string | Buffer }

/** Ends a response with its length: the server reads none in chunks, which the code may have from another service. */
function end(response: ServerResponse, { status, headers, body }: Answer = {}): void {
  const content = Buffer.from(body ?? '')
  const kept = Object.entries(headers ?? {}).filter(
    ([name]) => !/^(?:transfer-encoding|content-length|trailer)$/i.test(name),
  )
  const hasBody = status !== 204 && status !== 304
  response.writeHead(status ?? 200, {
    ...Object.fromEntries(kept),
    ...(hasBody && { 'content-length': content.length }),
  })
  response.end(hasBody ? content : undefined)
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/** The subject of a request, read from its body; see the operations of the platform's interface. */
function subjectOf({ headers, body = '{}' }: HandlerRequest): Subject {
  const botId = headers['x-bot-id']
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return { botId }
  }
  const call = Object(parsed)
  const event = Object(call.event)
  const payload = Object(event.payload)
  const idOf = (object: unknown) => textIn(Object(object).id)
  return {
    botId,
    conversationId: textIn(event.conversationId) ?? idOf(call.conversation),
    messageId: textIn(event.messageId) ?? idOf(call.message),
    eventId: idOf(event),
    userId: textIn(event.userId) ?? idOf(call.user),
    workflowId: idOf(payload.workflow),
  }
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
