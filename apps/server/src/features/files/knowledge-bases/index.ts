import { ApiError, type Body, contract, type Output, type Query } from '@botstead/contract'
import type { BotActor } from '../../../domain/actor.js'
import { mergePatch } from '../../../domain/patches.js'
import { notFound } from '../../../domain/refusals.js'
import { type Route, route } from '../../../http/mount.js'
import { toPageMeta } from '../../../http/paging.js'
import { isoTime } from '../../../platform/clock.js'
import { decodeJson, encodeJson } from '../../../platform/db/columns.js'
import type { Page } from '../../../platform/db/paginate.js'
import type { Tx } from '../../../platform/db/schema.js'
import type { Remember } from '../../../platform/idempotency/store.js'
import { keySpaceOf } from '../access.js'
import type { FilesDeps } from '../dependencies.js'
import { scopeOf, toTagConditions } from '../lookup/index.js'
import { requireTagCount } from '../rules.js'
import * as store from './store.js'

type WireKnowledgeBase = Output<typeof contract.knowledgeBases.create>['knowledgeBase']

/**
 * Knowledge bases: names for groups of files. They contain no files: the tag `kbId` of a file refers to its
 * knowledge base, and the visibility of a file is its own. An integration sees the knowledge bases of the files
 * that it sees, besides its own, and changes only its own.
 */
export function createKnowledgeBases(
  deps: Pick<FilesDeps, 'db' | 'run' | 'clock' | 'ids' | 'pager'>,
) {
  const { db, run, clock } = deps

  const scopeNow = (actor: BotActor) => scopeOf(actor, isoTime(clock.now()))

  /** The row, locked until the transaction ends. */
  async function lockOwn(tx: Tx, actor: BotActor, id: string): Promise<store.KnowledgeBaseRow> {
    const row = await store.lockKnowledgeBase(tx, actor.botId, id)
    if (row === undefined) throw notFound('knowledge base', id, 'in this bot')
    if (actor.caller.type !== 'integration' || row.key_space === keySpaceOf(actor)) return row
    if (!(await store.isVisibleTo(tx, scopeNow(actor), id))) {
      throw notFound('knowledge base', id, 'in this bot')
    }
    throw new ApiError(
      'Forbidden',
      'An integration may change and delete its own knowledge bases only; this one it may read.',
    )
  }

  async function create(
    actor: BotActor,
    { name, tags = {} }: Body<typeof contract.knowledgeBases.create>,
    remember: Remember<store.KnowledgeBaseRow>,
  ): Promise<store.KnowledgeBaseRow> {
    const now = isoTime(clock.now())
    const row = {
      id: deps.ids.next('kb'),
      bot_id: actor.botId,
      key_space: keySpaceOf(actor),
      name,
      tags: encodeJson(tags),
      created_at: now,
      updated_at: now,
    }
    await run(async (tx) => {
      await store.insertKnowledgeBase(tx, row)
      await remember?.(tx, row)
    })
    return row
  }

  async function list(
    actor: BotActor,
    query: Query<typeof contract.knowledgeBases.list>,
  ): Promise<Page<store.KnowledgeBaseRow>> {
    const { nextToken, pageSize, tags } = query
    const scope = scopeNow(actor)
    const page = deps.pager.page({
      operation: 'listKnowledgeBases',
      scope: `${actor.botId}/${scope.integrationId ?? ''}`,
      filter: { tags },
      sort: 'created_at',
      direction: 'desc',
      nextToken,
      pageSize,
    })
    return await store.pageKnowledgeBases(db, scope, toTagConditions(tags), page)
  }

  async function update(
    actor: BotActor,
    id: string,
    patch: Body<typeof contract.knowledgeBases.update>,
  ): Promise<store.KnowledgeBaseRow> {
    return await run(async (tx) => {
      const current = await lockOwn(tx, actor, id)
      const tags = mergePatch(decodeJson<Record<string, string>>(current.tags), patch.tags)
      requireTagCount(tags, 'knowledge base')
      const next = { name: patch.name, tags: encodeJson(tags), updated_at: isoTime(clock.now()) }
      await store.patchKnowledgeBase(tx, actor.botId, id, next)
      return { ...current, ...next }
    })
  }

  async function remove(actor: BotActor, id: string): Promise<void> {
    await run(
      async (tx) => {
        await lockOwn(tx, actor, id)
        await store.deleteKnowledgeBase(tx, actor.botId, id)
      },
      { mayUseReserve: true },
    )
  }

  /** Deletes the knowledge bases of a deleted bot. */
  async function purge(botId: string): Promise<void> {
    await run((tx) => store.deleteKnowledgeBasesOf(tx, botId), { mayUseReserve: true })
  }

  const routes: Route[] = [
    route(contract.knowledgeBases.create, ({ actor, body, once }) =>
      once<store.KnowledgeBaseRow>(
        (remember) => create(actor, body, remember),
        (row) => ({ knowledgeBase: toKnowledgeBase(row) }),
      ),
    ),

    route(contract.knowledgeBases.list, async ({ actor, query }) => {
      const page = await list(actor, query)
      return { knowledgeBases: page.rows.map(toKnowledgeBase), meta: toPageMeta(page) }
    }),

    route(contract.knowledgeBases.update, async ({ actor, params, body }) => ({
      knowledgeBase: toKnowledgeBase(await update(actor, params.id, body)),
    })),

    route(contract.knowledgeBases.remove, async ({ actor, params }) => {
      await remove(actor, params.id)
      return {}
    }),
  ]

  return { routes, purge }
}

function toKnowledgeBase(row: store.KnowledgeBaseRow): WireKnowledgeBase {
  return { id: row.id, name: row.name, createdAt: row.created_at, tags: decodeJson(row.tags) }
}
