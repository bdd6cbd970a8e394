import {
  ApiError,
  type Body,
  type contract,
  maxSearchLimit,
  type Query,
  searchLimitDefault,
  waitTimeoutDefault,
} from '@botstead/contract'
import type { BotActor } from '../../domain/actor.js'
import { fieldError } from '../../domain/refusals.js'
import { bound } from '../../platform/bound.js'
import { type Clock, isoTime } from '../../platform/clock.js'
import type { Pager } from '../../platform/db/pager.js'
import type { Page } from '../../platform/db/paginate.js'
import type { Db } from '../../platform/db/schema.js'
import { type FileScope, type Files, scopeOf, toTagConditions } from '../files/index.js'
import type { SearchMeter } from './metrics.js'
import { hasPassage, type PassageRow, pagePassages } from './passage-store.js'
import { type Finder, type FindRequest, type FoundPassage, joinByFile } from './retrieval/index.js'
import type { QuestionVectors } from './vectors/index.js'

export interface SearchServiceDeps {
  db: Db
  clock: Clock
  pager: Pager
  files: Pick<Files, 'service' | 'reindexing' | 'waiting'>
  finder: Pick<Finder, 'find' | 'explain'>
  questions: QuestionVectors
  meter: Pick<SearchMeter, 'measure'>
  limits: { passagesPerFile: number }
}

export type SearchService = ReturnType<typeof createSearchService>

/** Search in the files of a bot, and management of the passages of single files. */
export function createSearchService(deps: SearchServiceDeps) {
  return {
    ...bound(deps, {
      search: searchFiles,
      explain: explainSearch,
      ask: askAsBot,
      listPassages,
      replacePassages,
    }),
    /** Reads the content of a file again and makes its passages again. */
    reindex: deps.files.reindexing.reindex,
  }
}

/** Finds passages, best first: one per match, or one per file with `consolidate`. */
async function searchFiles(
  deps: SearchServiceDeps,
  actor: BotActor,
  input: Query<typeof contract.search.files>,
  signal?: AbortSignal,
): Promise<{ found: FoundPassage[]; degraded: readonly string[] }> {
  const { clock, finder, meter } = deps
  return await meter.measure(async () => {
    const request = await toRequest(deps, scopeOf(actor, isoTime(clock.now())), input, signal)
    const { found, degraded } = await finder.find(request, signal)
    return { found: input.consolidate ? joinByFile(found) : found, degraded }
  }, signal)
}

/** Finds passages as `search` does, and the reasons. */
async function explainSearch(
  deps: SearchServiceDeps,
  actor: BotActor,
  input: Query<typeof contract.explanations.search>,
  signal?: AbortSignal,
) {
  const { clock, finder } = deps
  const { fileId, passageId, ...query } = input
  const target = await requireTarget(deps, actor, fileId, passageId)
  const request = await toRequest(deps, scopeOf(actor, isoTime(clock.now())), query, signal)
  const { found, ...rest } = await finder.explain(
    { ...request, explain: { ...(target && { target }) } },
    signal,
  )
  return { found: query.consolidate ? joinByFile(found) : found, ...rest }
}

/** The file and passage that an explanation is about. */
async function requireTarget(
  { files, db }: SearchServiceDeps,
  actor: BotActor,
  idOrKey: string | undefined,
  passageId: string | undefined,
): Promise<{ fileId: string; passageId?: string } | undefined> {
  if (idOrKey === undefined) {
    if (passageId === undefined) return undefined
    throw fieldError('query.passageId', 'needs query.fileId, the file it is in.')
  }
  const file = await files.service.find(actor, idOrKey)
  if (file === undefined) {
    throw noReference('fileId', `There is no file ${idOrKey} in this bot.`)
  }
  if (passageId === undefined) return { fileId: file.id }
  if (!(await hasPassage(db, actor.botId, file.id, passageId))) {
    throw noReference('passageId', `There is no passage ${passageId} in the file ${idOrKey}.`)
  }
  return { fileId: file.id, passageId }
}

/** Searches as the bot itself, outside of any request. */
async function askAsBot(
  deps: SearchServiceDeps,
  botId: string,
  query: string,
  parameters: Pick<Query<typeof contract.search.files>, 'tags' | 'minScore' | 'limit'>,
  signal: AbortSignal,
): Promise<{ found: FoundPassage[]; degraded: readonly string[] }> {
  const { clock, finder } = deps
  const scope = { botId, integrationId: undefined, now: isoTime(clock.now()) }
  const input = { limit: maxSearchLimit, ...parameters, query, contextDepth: 0 }
  return await finder.find(await toRequest(deps, scope, input, signal), signal)
}

async function toRequest(
  { questions }: SearchServiceDeps,
  scope: FileScope,
  input: Query<typeof contract.search.files>,
  signal: AbortSignal | undefined,
): Promise<FindRequest> {
  if (input.query.trim() === '') {
    throw fieldError('query.query', 'must have more than white space.')
  }
  const queryVector = await questions.of(scope.botId, input.query, signal)
  return {
    query: input.query,
    ...(queryVector && { queryVector }),
    scope,
    tags: toTagConditions(input.tags),
    limit: input.limit ?? searchLimitDefault,
    depth: input.contextDepth ?? 1,
    ...(input.minScore !== undefined && { minScore: input.minScore }),
  }
}

/** The passages of a file that search finds, in reading order. */
async function listPassages(
  { files, pager, db, clock }: SearchServiceDeps,
  actor: BotActor,
  idOrKey: string,
  query: Query<typeof contract.filePassages.list>,
): Promise<Page<PassageRow>> {
  const { id } = await files.service.get(actor, idOrKey)
  const { nextToken, pageSize, limit } = query
  const page = pager.page({
    operation: 'listFilePassages',
    scope: `${actor.botId} ${id}`,
    sort: 'position',
    direction: 'asc',
    nextToken,
    pageSize: Math.min(pageSize ?? limit ?? 20, limit ?? 100),
  })
  return await pagePassages(db, scopeOf(actor, isoTime(clock.now())), id, page)
}

/** Replaces the passages of a file; returns when they are found, or after a timeout. */
async function replacePassages(
  { limits, files }: SearchServiceDeps,
  actor: BotActor,
  idOrKey: string,
  { passages }: Body<typeof contract.filePassages.set>,
  signal?: AbortSignal,
): Promise<void> {
  if (passages.length > limits.passagesPerFile) {
    throw fieldError(
      'body.passages',
      `must have at most ${limits.passagesPerFile} items.`,
      'LimitExceeded',
      { maximum: limits.passagesPerFile },
    )
  }
  const blank = passages.findIndex(({ content }) => content.trim() === '')
  if (blank >= 0) {
    throw fieldError(`body.passages.${blank}.content`, 'must have more than white space.')
  }
  const { id } = await files.reindexing.replacePassages(actor, idOrKey, JSON.stringify(passages))
  const file = await files.waiting.untilIndexed(actor, id, waitTimeoutDefault, signal)
  if (file.status === 'indexing_failed') {
    throw new ApiError('Internal', file.failed_reason ?? 'The passages could not be stored.')
  }
}

function noReference(field: string, message: string): ApiError {
  return new ApiError('ReferenceNotFound', message, { metadata: { in: 'query', field } })
}
