import { decodeJson } from '../../../platform/db/columns.js'
import type { Catalogue, CatalogueEntry } from '../bots/index.js'
import type { IntegrationDefinition } from './definition.js'
import type { KnownIntegrations } from './known.js'
import type { createRegistration } from './registration.js'
import type { IntegrationsService } from './service.js'
import type { IntegrationRow } from './store.js'
import { iconUrlOf } from './view.js'

/** What bots can install, and who is told when they do. */
export function createCatalogue(
  service: Pick<IntegrationsService, 'findAll' | 'countInstalls'>,
  known: Pick<KnownIntegrations, 'of'>,
  registration: Pick<ReturnType<typeof createRegistration>, 'enqueue' | 'untilSettled'>,
): Catalogue {
  return {
    async find(executor, workspaceId, ids) {
      const rows = await service.findAll(executor, workspaceId, ids)
      return new Map(rows.map((row) => [row.id, toEntry(row)]))
    },

    async declarationsOf(integrationId) {
      return (await known.of(integrationId))?.definition
    },

    async onChanged(tx, _botId, changes) {
      for (const change of changes) {
        const { before, after } = change
        await registration.enqueue(tx, change)
        if (before?.integration_id === after?.integration_id) continue
        if (before) await service.countInstalls(tx, before.integration_id, -1)
        if (after) await service.countInstalls(tx, after.integration_id, 1)
      }
    },

    untilSettled: registration.untilSettled,
  }
}

function toEntry(row: IntegrationRow): CatalogueEntry {
  const { configuration, configurations } = decodeJson<IntegrationDefinition>(row.definition)
  return {
    id: row.id,
    name: row.name,
    version: row.version,
    title: row.title,
    description: row.description,
    iconUrl: iconUrlOf(row.icon),
    visibility: row.visibility,
    isBuiltIn: false,
    configuration: configuration.schema,
    configurations: new Map(
      Object.entries(configurations).map(([name, { schema }]) => [name, schema]),
    ),
  }
}
