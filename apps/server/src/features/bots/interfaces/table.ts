import type { CatalogueColumns } from '../definitions/index.js'

/** An interface: abilities that several integrations have in the same form. `definition` is an `InterfaceDefinition`. */
export interface InterfacesTable extends CatalogueColumns {}

/** An integration that implements an interface, or a plugin that depends on it by its id. */
export interface InterfaceUsesTable {
  /** Id of the integration or plugin. */
  user_id: string
  /** Under which it names the interface. */
  alias: string
  /** Workspace of the integration or plugin. */
  workspace_id: string
  interface_id: string
  interface_name: string
}

declare module '../../../platform/db/schema.js' {
  interface Schema {
    interfaces: InterfacesTable
    interface_uses: InterfaceUsesTable
  }
}
