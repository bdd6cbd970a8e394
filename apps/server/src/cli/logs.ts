import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, createClient, readEventStream, toApiError } from '@botstead/contract'
import { Command, InvalidArgumentError, Option } from 'commander'
import { printable } from '../platform/terminal-text.js'
import { addConnectionOptions, type ConnectionOptions, connect, reachable } from './connection.js'
import { out } from './terminal.js'

type Line = Awaited<ReturnType<Client['listLogs']>>['logs'][number]

interface LogOptions extends ConnectionOptions {
  follow: boolean
  lines: number
  level?: Line['level']
  text?: string
  json: boolean
}

/** Lines that a list has at most. */
const maxLines = 100
/** Lines that are remembered as shown: more than come in the seconds that a stream repeats. */
const maxShown = 5000
/** Milliseconds before a broken stream is opened again. */
const pauseMs = 1000

/** `botstead logs`: shows the log of a bot, also as it grows, through the API. */
export function logsCommand(): Command {
  const command = new Command('logs')
    .description('Show what a bot printed and what happened to it, oldest line first.')
    .option('-f, --follow', 'go on with new lines until Ctrl-C', false)
    .option('-n, --lines <number>', 'newest lines to show, 0 to 100', toLines, 20)
    .addOption(
      new Option('--level <level>', 'only lines of this level and more severe ones').choices([
        'debug',
        'info',
        'warn',
        'error',
      ]),
    )
    .option('--text <text>', 'only lines that contain it, ignoring case')
    .option('--json', 'write one JSON object a line', false)
  return addConnectionOptions(command).action(async (options: LogOptions) => {
    const { url, token, botId, workspaceId } = await connect(options)
    if (workspaceId === undefined) {
      throw new Error('The key of a bot cannot read logs: give a personal token with --token.')
    }
    const filter = {
      botId,
      ...(options.level && { minLevel: options.level }),
      ...(options.text && { text: options.text }),
    }
    const client = createClient({ baseUrl: url, token, workspaceId })
    const { logs, meta } = await reachable(url, () =>
      client.listLogs({ ...filter, pageSize: Math.max(1, options.lines) }),
    )
    for (const line of logs.slice(0, options.lines).reverse()) show(line, options)
    if (!options.follow) return
    const address = new URL(`${url}/v1/admin/logs/stream`)
    address.search = new URLSearchParams(filter).toString()
    const shown = new Set(logs.map(({ id }) => id))
    await follow(address, { token, workspaceId, position: meta.position, shown }, (line) =>
      show(line, options),
    )
  })
}

interface Following {
  token: string
  workspaceId: string
  /** Position in the log from which the stream is read. */
  position: string
  /** Ids of lines that are shown already: the stream may send those of the last seconds again. */
  shown: Set<string>
}

/** Reads the stream of lines, and opens it again when it breaks. */
async function follow(
  address: URL,
  { token, workspaceId, position, shown }: Following,
  onLine: (line: Line) => void,
): Promise<never> {
  let last = position
  for (;;) {
    address.searchParams.set('lastEventId', last)
    const headers = {
      accept: 'text/event-stream',
      authorization: `Bearer ${token}`,
      'x-workspace-id': workspaceId,
    }
    const response = await fetch(address, { headers }).catch(() => undefined)
    if (response !== undefined && !response.ok && response.status < 500) {
      throw toApiError(response.status, await response.text())
    }
    for await (const { id, data } of eventsOf(response)) {
      last = id ?? last
      if (!data.startsWith('{')) continue
      const { type, data: line } = JSON.parse(data)
      if (type !== 'log_line' || shown.has(line.id)) continue
      shown.add(line.id)
      const [oldest = ''] = shown
      if (shown.size > maxShown) shown.delete(oldest)
      onLine(line)
    }
    await sleep(pauseMs)
  }
}

/** The events of a response until it ends or breaks. */
async function* eventsOf(response: Response | undefined) {
  if (!response?.ok || response.body === null) return
  try {
    yield* readEventStream(response.body)
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof DOMException)) throw error
  }
}

function show(line: Line, { json }: LogOptions): void {
  if (json) {
    out.json(line)
    return
  }
  const { timestamp, level } = line
  const [first, ...more] = printable(line.message).split('\n')
  out.line(`${timestamp}  ${level.padEnd(5)}  ${first}`)
  for (const part of more) out.line(`    ${part}`)
}

function toLines(text: string): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 0 && count <= maxLines) return count
  throw new InvalidArgumentError(`--lines must be a whole number from 0 to ${maxLines}.`)
}
