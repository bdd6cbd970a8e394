import { createClient } from '@botstead/contract'

interface Wanted {
  url: string
  token: string
  /** Id or name; undefined for the only one. */
  wanted: string | undefined
  /** How to say which one. */
  advice?: string
}

interface Named {
  id: string
  name: string
}

export interface FoundBot {
  id: string
  /** Unknown to the key of a bot. */
  workspaceId: string | undefined
}

export interface ListedBot extends Named {
  /** ISO 8601. */
  createdAt: string
  workspaceId: string
}

/** Bots that are named when it is not clear which is meant. */
const mostChoices = 10

/** The bot that is meant, by id or name, or the only one. */
export async function findBot({ url, token, wanted, ...how }: Wanted): Promise<FoundBot> {
  // The key of a bot cannot list bots, and its id is all that is needed.
  if (token.startsWith('bp_bak_') && wanted !== undefined) {
    return { id: wanted, workspaceId: undefined }
  }
  const bots = await listBots(url, token)
  if (wanted !== undefined) {
    const byId = bots.find(({ id }) => id === wanted)
    const named = bots.filter(({ name }) => name === wanted)
    const found = byId ?? (named.length === 1 ? named[0] : undefined)
    if (found !== undefined) return found
    const why = named.length > 1 ? `${named.length} bots are called` : 'There is no bot'
    throw new Error(`${why} "${wanted}". ${choices(bots, how.advice)}`)
  }
  const [only] = bots
  if (only !== undefined && bots.length === 1) return only
  throw new Error(`Which bot? ${choices(bots, how.advice)}`)
}

/**
 * All bots that a token reaches, in the order of the interface.
 * @param only bots of this workspace alone
 */
export async function listBots(url: string, token: string, only?: string): Promise<ListedBot[]> {
  const found: ListedBot[] = []
  const all = only === undefined ? await listWorkspaces(url, token) : [{ id: only }]
  for (const { id: workspaceId } of all) {
    const client = createClient({ baseUrl: url, token, workspaceId })
    for await (const page of pages((next) => client.listBots(next))) {
      found.push(
        ...page.bots.map(({ id, name, createdAt }) => ({ id, name, createdAt, workspaceId })),
      )
    }
  }
  return found
}

/** The workspaces that a token reaches. */
async function listWorkspaces(url: string, token: string): Promise<Named[]> {
  const account = createClient({ baseUrl: url, token })
  const found: Named[] = []
  for await (const page of pages((next) => account.listWorkspaces(next))) {
    found.push(...page.workspaces)
  }
  return found
}

/**
 * The workspace that is meant.
 * @param wanted its id or name; undefined for the only one
 */
export async function findWorkspace({ url, token, wanted }: Wanted): Promise<Named> {
  const all = await listWorkspaces(url, token)
  const named = all.filter(
    ({ id, name }) => wanted === undefined || wanted === name || wanted === id,
  )
  const [only] = named
  if (only !== undefined && named.length === 1) return only
  const why = wanted === undefined ? 'Which workspace?' : `There is no workspace "${wanted}".`
  throw new Error(`${why} Give the id of one with --workspace:${linesOf(all)}`)
}

/** All pages of a list, one after the other. */
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

function choices(
  bots: readonly ListedBot[],
  advice = 'Give one with --bot or BOTSTEAD_BOT',
): string {
  if (bots.length === 0) {
    return 'The token reaches no bot: make one with "botstead bots create".'
  }
  return `${advice}:${linesOf(bots)}`
}

function linesOf(choices: readonly Named[]): string {
  const lines = choices.slice(0, mostChoices).map(({ id, name }) => `\n  ${id}  ${name}`)
  const more = choices.length > mostChoices ? `\n  and ${choices.length - mostChoices} more` : ''
  return `${lines.join('')}${more}`
}
