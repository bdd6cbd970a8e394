import { readFile } from 'node:fs/promises'
import { basename, join, parse } from 'node:path'
import { ApiError, type Client, createClient } from '@botstead/contract'
import { Command, InvalidArgumentError } from 'commander'
import {
  accessServer,
  addConnectionOptions,
  type ConnectionOptions,
  reachable,
  suggest,
} from './connection.js'
import { fileProblem } from './file-problems.js'
import { findBot, findWorkspace, listBots } from './known-bots.js'
import { out } from './terminal.js'
import { shellWord } from './text.js'

interface DeployOptions extends ConnectionOptions {
  create: boolean
  workspace?: string
  secret: Record<string, string>
  json: boolean
}

/** Lists integrations by alias, so that the chat is found under its own. */
const byAlias = { headers: { 'x-multiple-integrations': 'true' } }

/** Name of the code in validation errors of the server. */
const codeField = 'body.code'

/** The line that bundles a file, and the name of the bundle. */
function bundlingOf(file: string): { line: string; bundle: string } {
  const { dir, name, ext } = parse(file)
  const bundle = join(dir, `${name}${ext === '.cjs' ? '.bundle' : ''}.cjs`)
  const line = `npx esbuild ${shellWord(file)} --bundle --platform=node --format=cjs --minify --outfile=${shellWord(bundle)}`
  return { line, bundle }
}

/** `botstead deploy`: hands the server the code of a bot, through the API. */
export function deployCommand(): Command {
  const command = new Command('deploy')
    .description('Deploy the code of a bot, which then runs at the server.')
    .argument('<file>', 'the code: one CommonJS file that contains all that it needs')
    .option('--create', 'create the bot if there is none with the name that --bot gives', false)
    .option(
      '--workspace <id or name>',
      'with --create: workspace of the bot; not needed when there is only one',
    )
    .option(
      '--secret <NAME=value>',
      'secret of the code, as SECRET_NAME in its environment; NAME alone takes the value from the environment of this command; repeat for more',
      addSecret,
      {},
    )
    .option('--json', 'write JSON', false)
    .addHelpText(
      'after',
      `\nA program of several files or packages is bundled first:\n  ${bundlingOf('my-bot.mjs').line}`,
    )
  return addConnectionOptions(command).action(async (file: string, options: DeployOptions) => {
    const code = await readCode(file)
    const { url, token, bot: known, again } = await accessServer(options)
    const wanted = options.bot ?? known
    const { admin, id } = await reachable(url, () => openBot({ url, token, wanted, options }))
    const { bot } = await deploy(admin, file, {
      id,
      code,
      ...(Object.keys(options.secret).length > 0 && { secrets: options.secret }),
    })
    const chatUrl = bot.integrations.chat?.webhookUrl
    if (options.json) {
      out.json({ ...bot, apiUrl: url, chatUrl })
      return
    }
    const size = Math.ceil(Buffer.byteLength(code) / 1000)
    out.line(`Deployed ${basename(file)} (${size} kB) to ${bot.name} (${id}).`)
    if (chatUrl !== undefined) out.line(chatUrl)
    suggest({ again }, [`npx botstead chat --bot ${id}`, `npx botstead logs --bot ${id}`])
  })
}

async function readCode(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw new Error(fileProblem(cause, file) ?? `${file} cannot be read: ${cause}`, { cause })
  }
}

interface Opened {
  url: string
  token: string
  /** Id or name of the bot; undefined for the only one. */
  wanted: string | undefined
  options: DeployOptions
}

/** The bot that gets the code, which is created if that was requested. */
async function openBot({ url, token, wanted, options }: Opened) {
  const clientOf = (workspaceId: string) =>
    createClient({ baseUrl: url, token, workspaceId, ...byAlias })
  if (options.create && !(await isKnown({ url, token, wanted }))) {
    if (wanted === undefined) throw new Error('--create needs --bot with a name for the bot.')
    const { id: workspaceId } = await findWorkspace({ url, token, wanted: options.workspace })
    const admin = clientOf(workspaceId)
    return { admin, id: (await admin.createBot({ name: wanted })).bot.id }
  }
  const otherwise = 'Add --create to make it.'
  const { id, workspaceId } = await findBot({ url, token, wanted, otherwise })
  if (workspaceId === undefined) {
    throw new Error('The key of a bot cannot deploy: give a personal token with --token.')
  }
  return { admin: clientOf(workspaceId), id }
}

async function isKnown({ url, token, wanted }: Omit<Opened, 'options'>): Promise<boolean> {
  const bots = await listBots(url, token)
  return bots.some(({ id, name }) => id === wanted || name === wanted)
}

/** Deploys, and explains a refusal by the name of the file; the most frequent is source in place of a bundle. */
async function deploy(admin: Client, file: string, change: Parameters<Client['updateBot']>[0]) {
  try {
    return await admin.updateBot(change)
  } catch (cause) {
    if (!(cause instanceof ApiError) || !cause.message.startsWith(codeField)) throw cause
    const reason = `${file}${cause.message.slice(codeField.length)}`
    const { line, bundle } = bundlingOf(file)
    const advice = /import|Cannot find module|ERR_/.test(reason)
      ? `\nIf ${file} imports packages or other files, bundle it into one, and deploy that:\n  ${line}\n  npx botstead deploy ${shellWord(bundle)} --bot ${change.id}`
      : ''
    throw new Error(`${reason}${advice}`, { cause })
  }
}

/** Reads an option `--secret NAME=value` or `--secret NAME`, which may be repeated. */
function addSecret(text: string, secrets: Record<string, string>): Record<string, string> {
  const [, name = '', given] = /^([^=]+)(?:=(.*))?$/s.exec(text) ?? []
  if (name === '') throw new InvalidArgumentError('A secret is written NAME=value, or NAME.')
  // biome-ignore lint/style/noProcessEnv: keeps values out of the list of processes and the history of the shell
  const value = given ?? process.env[name]
  if (value === undefined) {
    throw new InvalidArgumentError(
      `The environment has no ${name}: set it, or write ${name}=value.`,
    )
  }
  return { ...secrets, [name]: value }
}
