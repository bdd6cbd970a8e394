import { createClient } from '@botstead/contract'
import { escapeLine } from '../platform/terminal-text.js'

interface Wanted {
  url: string
  token: string
  /** Id or name; undefined for the only one. */
  wanted: string | undefined
  /** Instruction for selecting one of several bots, for the error message. */
  advice?: string
  /** Another remedy if there is no such bot, for the error message. */
  otherwise?: string
}

interface Named {
  id: string
  name: string
}

/** The bot that a command works on. */
export interface FoundBot {
  id: string
  /** Unknown when the token is the key of a bot. */
  workspaceId: string | undefined
}

/** A bot of one of the workspaces of the token. */
export interface ListedBot extends Named {
  /** ISO 8601. */
  createdAt: string
  workspaceId: string
  /** Whether it is in development: `bp dev` runs it. */
  dev: boolean
}

const defaultAdvice = 'Give one with --bot or BOTSTEAD_BOT'

/** Maximum number of bots that are listed when the choice is unclear, unless there is only one more. */
const maxChoices = 20

/** The selected bot, by id or name, or the only one. A name is that of a bot in development if no other bot has it. */
export async function findBot({ url, token, wanted, ...how }: Wanted): Promise<FoundBot> {
  // The key of a bot cannot list bots, and only the id is required.
  if (token.startsWith('bp_bak_') && wanted !== undefined) {
    return { id: wanted, workspaceId: undefined }
  }
  const bots = await listBots(url, token)
  if (wanted !== undefined) {
    const byId = bots.find(({ id }) => id === wanted)
    const all = bots.filter(({ name }) => name === wanted)
    const deployed = all.filter(({ dev }) => !dev)
    const named = deployed.length > 0 ? deployed : all
    const found = byId ?? (named.length === 1 ? named[0] : undefined)
    if (found !== undefined) return found
    if (named.length === 0) {
      const help = how.otherwise === undefined ? '' : ` ${how.otherwise}`
      throw new Error(
        `There is no bot "${escapeLine(wanted)}".${help} ${choices(bots, how.advice)}`,
      )
    }
    // Their names are equal, so the creation time distinguishes them.
    const dated = named.map(({ id, createdAt }) => ({ id, name: `made ${createdAt}` }))
    throw new Error(
      `${named.length} bots are called "${escapeLine(wanted)}". ${how.advice ?? 'Give the id of one with --bot or BOTSTEAD_BOT'}:${linesOf(dated)}`,
    )
  }
  const only = onlyOf(bots)
  if (only !== undefined) return only
  throw new Error(`Which bot? ${choices(bots, how.advice)}`)
}

/** The bot that commands take if none is named: the only one, besides those in development. */
function onlyOf(bots: readonly ListedBot[]): ListedBot | undefined {
  const [only, ...others] = bots.filter(({ dev }) => !dev)
  return others.length === 0 ? only : undefined
}

/**
 * All bots that a token can access, in the order of the API, those in development after the others of their workspace.
 * @param only restricts the list to this workspace
 */
export async function listBots(url: string, token: string, only?: string): Promise<ListedBot[]> {
  const found: ListedBot[] = []
  const all = only === undefined ? await listWorkspaces(url, token) : [{ id: only }]
  for (const { id: workspaceId } of all) {
    const client = createClient({ baseUrl: url, token, workspaceId })
    for (const dev of [false, true]) {
      for await (const { bots } of pages((next) => client.listBots({ ...next, dev }))) {
        found.push(
          ...bots.map(({ id, name, createdAt }) => ({ id, name, createdAt, workspaceId, dev })),
        )
      }
    }
  }
  return found
}

/** The workspaces that a token can access. */
async function listWorkspaces(url: string, token: string): Promise<Named[]> {
  const account = createClient({ baseUrl: url, token })
  const found: Named[] = []
  for await (const page of pages((next) => account.listWorkspaces(next))) {
    found.push(...page.workspaces)
  }
  return found
}

/**
 * The selected workspace.
 * @param wanted its id or name; undefined for the only one
 */
export async function findWorkspace({ url, token, wanted }: Wanted): Promise<Named> {
  const all = await listWorkspaces(url, token)
  const byId = all.find(({ id }) => id === wanted)
  if (byId !== undefined) return byId
  const named = all.filter(({ name }) => wanted === undefined || wanted === name)
  const [only] = named
  if (only !== undefined && named.length === 1) return only
  const advice = 'Give the id of one with --workspace:'
  if (wanted === undefined) throw new Error(`Which workspace? ${advice}${linesOf(all)}`)
  if (named.length === 0) {
    throw new Error(`There is no workspace "${wanted}". ${advice}${linesOf(all)}`)
  }
  throw new Error(`${named.length} workspaces are called "${wanted}". ${advice}${linesOf(named)}`)
}

/** Yields all pages of a list. */
async function* pages<Page extends { meta: { nextToken?: string } }>(
  read: (next: { nextToken?: string }) => Promise<Page>,
): AsyncGenerator<Page> {
  let nextToken: string | undefined
  do {
    const page = await read(nextToken === undefined ? {} : { nextToken })
    yield page
    nextToken = page.meta.nextToken
  } while (nextToken !== undefined)
}

function choices(bots: readonly ListedBot[], advice = defaultAdvice): string {
  if (bots.length === 0) {
    return 'The token reaches no bot: make one with "npx botstead bots create First".'
  }
  return `${advice}:${linesOf(bots)}`
}

function linesOf(choices: readonly Named[]): string {
  const shown = choices.length === maxChoices + 1 ? choices : choices.slice(0, maxChoices)
  const lines = shown.map(({ id, name }) => `\n  ${id}  ${escapeLine(name)}`)
  const hidden = choices.length - shown.length
  const more = hidden === 0 ? '' : `\n  and ${hidden} more, which "npx botstead bots list" shows`
  return `${lines.join('')}${more}`
}
