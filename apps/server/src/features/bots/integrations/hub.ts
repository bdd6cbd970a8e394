import type { contract, Output, Query } from '@botstead/contract'
import type { WorkspaceActor } from '../../../domain/actor.js'
import { notFound } from '../../../domain/refusals.js'
import { reaches } from '../../../domain/rights.js'
import type { Pager } from '../../../platform/db/pager.js'
import type { Db } from '../../../platform/db/schema.js'
import type { WorkspacesService } from '../../tenancy/workspaces/index.js'
import { highestOf, withPublisher, withPublishers } from '../definitions/index.js'
import {
  builtInRow,
  findBuiltIn,
  serverPublisher,
  toHubSummary,
  versionsInHub,
} from './built-in.js'
import * as store from './hub-store.js'
import { sortColumns } from './service.js'
import { findPublished } from './store.js'
import { toPublished } from './view.js'

type PublicIntegration = Output<typeof contract.hub.getIntegration>['integration']
type PublicSummary = Output<typeof contract.hub.listIntegrations>['integrations'][number]
type HubQuery = Query<typeof contract.hub.listIntegrations>

interface HubDeps {
  db: Db
  pager: Pager
  workspaces: Pick<WorkspacesService, 'publishersOf'>
}

/** The integrations that every workspace can install: the built-in ones, and those that workspaces publish. */
export function createHub({ db, pager, workspaces }: HubDeps) {
  async function publishersOf(ids: readonly string[]) {
    const others = await workspaces.publishersOf(ids.filter((id) => id !== serverPublisher.id))
    return new Map([[serverPublisher.id, serverPublisher], ...others])
  }

  async function get(id: string): Promise<PublicIntegration> {
    const builtIn = findBuiltIn(id)
    if (builtIn !== undefined) return builtIn
    const row = await findPublished(db, id)
    if (row !== undefined) return await withPublisher(row, publishersOf, toPublished)
    throw notFound('integration', id, 'in the hub')
  }

  return {
    get,

    async list(
      actor: WorkspaceActor,
      query: HubQuery,
    ): Promise<{ integrations: PublicSummary[]; nextToken: string | undefined }> {
      const { nextToken, pageSize, limit, sortBy = 'createdAt', direction, ...filter } = query
      const { installedByBotId: botId } = filter
      if (botId !== undefined && !reaches(actor.rights, botId)) {
        return { integrations: [], nextToken: undefined }
      }
      const page = await store.pageHub(
        db,
        builtInRow(filter.version),
        {
          name: filter.name,
          version: filter.version,
          verification: filter.verificationStatus,
          search: filter.search,
          interfaceId: filter.interfaceId,
          interfaceName: filter.interfaceName,
          installedIn: botId === undefined ? undefined : { botId, workspaceId: actor.workspaceId },
        },
        pager.page({
          operation: 'listPublicIntegrations',
          scope: actor.workspaceId,
          filter: { ...filter, sortBy },
          sort: sortColumns[sortBy],
          direction: direction ?? (sortBy === 'name' ? 'asc' : 'desc'),
          nextToken,
          pageSize: pageSize ?? limit,
        }),
      )
      return {
        integrations: await withPublishers(page.rows, publishersOf, toHubSummary),
        nextToken: page.nextToken,
      }
    },

    /** The highest version of a name that matches: an exact version, `latest` or a range. */
    async getByName(name: string, version: string): Promise<PublicIntegration> {
      const found = highestOf(await versionsInHub(db, name), version)
      if (found !== undefined) return await get(found.id)
      throw notFound('integration', `${name} of version ${version}`, 'in the hub')
    },
  }
}

export type Hub = ReturnType<typeof createHub>
