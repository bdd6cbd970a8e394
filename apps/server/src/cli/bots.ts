import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { type Client, createClient } from '@botstead/contract'
import { Command } from 'commander'
import { escapeLine } from '../platform/terminal-text.js'
import {
  accessServer,
  addServerOptions,
  reachable,
  type ServerOptions,
  suggest,
} from './connection.js'
import { findBot, findWorkspace, listBots } from './known-bots.js'
import { notices, out } from './terminal.js'
import { shareLinkOf } from './text.js'

type Bot = Awaited<ReturnType<Client['getBot']>>['bot']

interface JsonOptions extends ServerOptions {
  json: boolean
}

interface PlaceOptions extends JsonOptions {
  workspace?: string
}

interface CreateOptions extends PlaceOptions {
  serverUrl?: string
  key?: string | true
}

/** A document of the checkout or of the package, where there is one, and a question that it answers. */
const examples = [
  { document: 'ARCHITECTURE.md', question: 'Can a message get lost when the power fails?' },
  {
    document: 'node_modules/botstead/docs/guides/backup.md',
    question: 'How do I restore a backup?',
  },
]
const own = { document: '<a document of yours>', question: '<a question that it answers>' }

function firstSteps(): string[] {
  const { document, question } = examples.find((each) => existsSync(each.document)) ?? own
  return [`npx botstead files put ${document} --index`, `npx botstead search "${question}"`]
}

const firstStepsOfProgram = ['npx botstead deliveries test', 'npx botstead chat']

/** Lists integrations by alias, so that the chat is found under its own. */
const byAlias = { headers: { 'x-multiple-integrations': 'true' } }

/** `botstead bots`: manages bots and shows their addresses, through the API. */
export function botsCommand(): Command {
  const command = new Command('bots').description('Create, list, show and delete bots.')
  const add = (words: string, text: string) =>
    addServerOptions(command.command(words).description(text))
  const workspace = [
    '--workspace <id or name>',
    'workspace; not needed when there is only one',
  ] as const
  const json = ['--json', 'write JSON', false] as const

  add('create [name]', 'Create a bot and show its addresses.')
    .option(...workspace)
    .option('--server-url <address>', 'address of the code of the bot, which receives messages')
    .option('--key [note]', 'also create a key of the bot, for a program; it is shown once')
    .option(...json)
    .action(async (name: string | undefined, options: CreateOptions) => {
      const { url, token, workspaceId, admin, again } = await enterWorkspace(options)
      const others = await listBots(url, token)
      const namesakes = others.filter((other) => other.name === name)
      if (namesakes.length > 0) notices.line(namesakeNote(namesakes))
      const { bot } = await admin.createBot(
        {
          ...(name !== undefined && { name }),
          ...(options.serverUrl !== undefined && { url: options.serverUrl }),
        },
        byAlias,
      )
      const note = options.key === true ? `For ${bot.name}` : options.key
      const key =
        note === undefined
          ? undefined
          : (await admin.createBotApiKey({ botId: bot.id, note })).value
      const { signingSecret } = bot
      const made = {
        ...(options.serverUrl !== undefined && { signingSecret }),
        ...(key !== undefined && { key }),
      }
      show({ bot, url, workspaceId, ...made }, options)
      if (options.json) return
      // With a second bot, the commands have to name the bot.
      const which = others.some(({ dev }) => !dev) ? ` --bot ${bot.id}` : ''
      // Lines that work as pasted in the folder of a checkout.
      const lines = options.serverUrl === undefined ? firstSteps() : firstStepsOfProgram
      suggest(
        { again },
        lines.map((line) => line + which),
      )
    })

  add('list', 'List bots of all workspaces, newest first in each, those in development last.')
    .option('--workspace <id or name>', 'only bots of this workspace')
    .option('--json', 'write one JSON object a line', false)
    .action(async (options: PlaceOptions) => {
      const { url, token } = await accessServer(options)
      await reachable(url, async () => {
        const only = options.workspace === undefined ? undefined : await enterWorkspace(options)
        const bots = await listBots(url, token, only?.workspaceId)
        const several = new Set(bots.map(({ workspaceId }) => workspaceId)).size > 1
        for (const bot of bots) {
          const workspace = several ? `  (workspace ${bot.workspaceId})` : ''
          const development = bot.dev ? '  (in development)' : ''
          if (options.json) out.json(bot)
          else out.line(`${bot.id}  ${bot.createdAt}  ${bot.name}${development}${workspace}`)
        }
        if (bots.length > 0) return
        notices.line('There are no bots: "npx botstead bots create First" makes one.')
      })
    })

  add('get <bot>', 'Show a bot, by id or name, and its addresses.')
    .option(...json)
    .action(async (wanted: string, options: JsonOptions) => {
      const { url, workspaceId, admin, id } = await requireBot(wanted, options)
      const { bot } = await admin.getBot({ id }, byAlias)
      show({ bot, url, workspaceId }, options)
    })

  add('delete <bot>', 'Delete a bot, by id or name, with its files, conversations and messages.')
    .option('--yes', 'do not ask', false)
    .action(async (wanted: string, options: ServerOptions & { yes: boolean }) => {
      const { admin, id } = await requireBot(wanted, options)
      const { name } = (await admin.getBot({ id })).bot
      if (!options.yes) await confirm(`Delete ${name} (${id}) and everything in it?`)
      await admin.deleteBot({ id })
      notices.line(`Deleted ${name} (${id}).`)
    })

  for (const part of command.commands) part.exitOverride()
  return command
}

/** Calls as a person, in the selected workspace. */
async function enterWorkspace(options: PlaceOptions) {
  const { url, token, again } = await accessServer(options)
  const wanted = options.workspace
  const { id: workspaceId } = await reachable(url, () => findWorkspace({ url, token, wanted }))
  const admin = createClient({ baseUrl: url, token, workspaceId })
  return { url, token, workspaceId, admin, again }
}

/** Names need not be unique, but commands find a bot by a name that no other has. */
function namesakeNote(namesakes: readonly { id: string; name: string }[]): string {
  const [first] = namesakes
  const others = namesakes.length === 1 ? first?.id : `${namesakes.length} bots`
  return `There was a bot named ${first?.name} before (${others}); this is another one, and commands find them by their ids only.`
}

async function requireBot(wanted: string, options: ServerOptions) {
  const { url, token } = await accessServer(options)
  const advice = 'Give the id of one'
  const { id, workspaceId } = await reachable(url, () => findBot({ url, token, wanted, advice }))
  if (workspaceId === undefined) {
    throw new Error('The key of a bot cannot do this: give a personal token with --token.')
  }
  return { url, workspaceId, id, admin: createClient({ baseUrl: url, token, workspaceId }) }
}

interface ShownBot {
  bot: Bot
  /** Address of the server. */
  url: string
  workspaceId: string
  /** The secret that signs the calls to the bot's code. */
  signingSecret?: string
  /** A key that was created with the bot. */
  key?: string
}

/** Prints what a program needs to work with a bot: for people, or as JSON with the bot as the API returns it. */
function show(shown: ShownBot, { json }: JsonOptions): void {
  const { bot, url, workspaceId, signingSecret, key } = shown
  const { webhookUrl: chatUrl } = bot.integrations.chat ?? {}
  const shareUrl = chatUrl && shareLinkOf(chatUrl)
  const addresses = {
    workspaceId,
    apiUrl: url,
    chatUrl,
    shareUrl,
    ...(key !== undefined && { key }),
  }
  if (json) {
    out.json({ ...bot, ...addresses })
    return
  }
  const facts: [string, string | undefined][] = [
    ['bot', bot.name],
    ['id', bot.id],
    ['workspace', workspaceId],
    ['files, search', `${url}/v1/files (with the header x-bot-id: ${bot.id})`],
    ['chat', chatUrl],
    ['share link', shareUrl],
    ['signing secret', signingSecret && `${signingSecret} (shown once)`],
    ['key', key === undefined ? undefined : `${key} (shown once)`],
  ]
  for (const [name, fact] of facts) if (fact !== undefined) out.line(`${name.padEnd(15)} ${fact}`)
}

async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY)
    throw new Error(
      'Without a terminal the deletion cannot be confirmed: give --yes to delete the bot.',
    )
  const lines = createInterface({ input: process.stdin, output: notices.stream })
  const answer = await lines.question(`${escapeLine(question)} [y/N] `)
  lines.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('Nothing was deleted.')
}
