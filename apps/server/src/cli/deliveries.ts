import { ApiError, type Client, createClient } from '@botstead/contract'
import { Command } from 'commander'
import { addConnectionOptions, type ConnectionOptions, connect } from './connection.js'
import { notices, out } from './terminal.js'

type Delivery = Awaited<ReturnType<Client['listDeliveries']>>['deliveries'][number]

interface ListOptions extends ConnectionOptions {
  status?: Delivery['status']
  conversation?: string
  since?: string
  integration?: string
  kind?: Delivery['kind']
}

interface ReceiverOptions extends ConnectionOptions {
  integration?: string
}

/** Maximum number of characters shown of a receiver's response. */
const maxResponseLength = 600

/** `botstead deliveries`: shows what was sent to a bot, and manages failed deliveries. */
export function deliveriesCommand(): Command {
  const command = new Command('deliveries').description(
    'Show deliveries to a bot, replay them, pause and resume them.',
  )
  command.addCommand(listCommand())
  command.addCommand(
    action('show', 'Show one delivery with its attempts.', async (of, id) => {
      const { delivery } = await of.client.getDelivery({ id: of.botId, deliveryId: id })
      const { attemptLog, ...rest } = delivery
      out.json(rest, 2)
      for (const { number, startedAt, durationMs, status, error, answer: response } of attemptLog) {
        out.line(
          `${number}. ${startedAt}  ${durationMs} ms  ${oneLine(error ?? `status ${status}`)}`,
        )
        if (response) out.line(`   ${oneLine(response)}`)
      }
    }).argument('<id>', 'id of the delivery'),
  )
  command.addCommand(replayCommand())
  for (const [name, does] of [
    ['pause', 'Stop sending, and keep what comes.'],
    ['resume', 'Send again, in order.'],
  ] as const) {
    const receiver = new Command(name)
      .description(does)
      .option('--integration <alias>', 'the installation that is meant, instead of the bot')
    command.addCommand(
      addConnectionOptions(receiver).action(async (options: ReceiverOptions) => {
        const { client, botId } = await connectAsPerson(options)
        const given = {
          id: botId,
          ...(options.integration !== undefined && { integration: options.integration }),
        }
        if (name === 'pause') await client.pauseDeliveries(given)
        else await client.resumeDeliveries(given)
        out.line(`Deliveries are ${name}d.`)
      }),
    )
  }
  command.addCommand(testCommand())
  return command
}

function listCommand(): Command {
  const command = new Command('list')
    .description('List deliveries, newest first.')
    .option('--status <status>', 'only pending, delivered, failed or canceled ones')
    .option('--conversation <id>', 'only those of a conversation')
    .option('--since <time>', 'only those made since an ISO 8601 time')
    .option('--integration <alias>', 'only those to an installation, as chat for its webhook')
    .option('--kind <kind>', 'only those of a kind, as event_received or signal')
  return addConnectionOptions(command).action(async (options: ListOptions) => {
    const { client, botId } = await connectAsPerson(options)
    const { receivers } = await client.listDeliveryReceivers({ id: botId })
    for (const { integration, paused, failures, reason } of receivers) {
      const state = paused === undefined ? count(failures, 'failure') : `paused (${paused})`
      out.line(
        `! ${integration ?? 'bot'}: ${state}${reason === undefined ? '' : `: ${oneLine(reason)}`}`,
      )
    }
    const { deliveries } = await client.listDeliveries({
      id: botId,
      pageSize: 100,
      ...(options.status && { status: options.status }),
      ...(options.conversation && { conversationId: options.conversation }),
      ...(options.since && { since: options.since }),
      ...(options.integration && { integration: options.integration }),
      ...(options.kind && { kind: options.kind }),
    })
    for (const delivery of deliveries) out.line(lineOf(delivery))
    if (deliveries.length === 0) notices.line('There are no such deliveries.')
  })
}

function replayCommand(): Command {
  const command = new Command('replay')
    .description('Send a finished delivery once more, or all that failed.')
    .argument('<id>', 'id of the delivery, or "failed" for all that failed')
    .option('--integration <alias>', 'with "failed": only those to an installation')
  return addConnectionOptions(command).action(async (id: string, options: ReceiverOptions) => {
    const { client, botId } = await connectAsPerson(options)
    if (id !== 'failed') {
      await client.replayDelivery({ id: botId, deliveryId: id })
      return out.line(`${id} is pending again.`)
    }
    const { integration } = options
    const wanted = { id: botId, ...(integration !== undefined && { integration }) }
    let page = await client.replayFailedDeliveries(wanted)
    let total = page.replayed
    while (page.nextToken !== undefined) {
      page = await client.replayFailedDeliveries({ ...wanted, nextToken: page.nextToken })
      total += page.replayed
    }
    out.line(
      total === 1 ? '1 delivery is pending again.' : `${total} deliveries are pending again.`,
    )
  })
}

function testCommand(): Command {
  const command = new Command('test').description('Call the bot at once and show its response.')
  return addConnectionOptions(command).action(async (options: ConnectionOptions) => {
    const { client, botId } = await connectAsPerson(options)
    const { result } = await client.sendTestEvent({ id: botId })
    const { delivered, durationMs, status, error, answer: response } = result
    const came = error === undefined ? `status ${status}` : oneLine(error)
    out.line(`${delivered ? 'Delivered' : 'Failed'} after ${durationMs} ms: ${came}`)
    if (response) out.line(oneLine(response))
    if (!delivered) process.exitCode = 1
  })
}

type Work = (of: { client: Client; botId: string }, id: string) => Promise<void>

function action(name: string, does: string, work: Work): Command {
  return addConnectionOptions(new Command(name).description(does)).action(
    async (id: string, options: ConnectionOptions) => work(await connectAsPerson(options), id),
  )
}

/** Deliveries require a personal token for the workspace of the bot. */
async function connectAsPerson(options: ConnectionOptions) {
  const { url: baseUrl, token, botId } = await connect(options)
  const account = createClient({ baseUrl, token })
  let next: { nextToken?: string } = {}
  do {
    const { workspaces, meta } = await account.listWorkspaces(next)
    for (const { id: workspaceId } of workspaces) {
      const client = createClient({ baseUrl, token, workspaceId })
      const found = await client.getBot({ id: botId }).catch((error: unknown) => {
        if (error instanceof ApiError && error.type === 'ResourceNotFound') return undefined
        throw error
      })
      if (found !== undefined) return { client, botId }
    }
    next = meta.nextToken === undefined ? {} : { nextToken: meta.nextToken }
  } while (next.nextToken !== undefined)
  throw new Error(`No workspace of this token has the bot ${botId}.`)
}

function lineOf({ id, createdAt, status, kind, attempts, integration, lastError }: Delivery) {
  const to = integration === undefined ? '' : ` to ${integration}`
  const why = lastError === undefined ? '' : `  ${oneLine(lastError)}`
  return `${id}  ${createdAt}  ${status.padEnd(9)}  ${kind}${to}, ${count(attempts, 'attempt')}${why}`
}

function count(number: number, name: string): string {
  return `${number} ${name}${number === 1 ? '' : 's'}`
}

/** The beginning of a receiver's response. */
function oneLine(said: string): string {
  const text = said.replaceAll(/\s+/g, ' ').trim()
  return text.length > maxResponseLength ? `${text.slice(0, maxResponseLength)}...` : text
}
