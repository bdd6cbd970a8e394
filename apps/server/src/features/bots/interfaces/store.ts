import type { Selectable } from 'kysely'
import { createCatalogueStore } from '../definitions/index.js'
import type { InterfacesTable } from './table.js'

export type InterfaceRow = Selectable<InterfacesTable>

export const interfacesStore = createCatalogueStore('interfaces')
