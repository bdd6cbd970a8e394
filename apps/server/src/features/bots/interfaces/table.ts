/**
 * An interface: what several integrations can do in the same way. `definition` holds what it declares as
 * one JSON object.
 */
export interface InterfacesTable {
  id: string
  workspace_id: string
  /** Unique with the version in the workspace. */
  name: string
  /** Semantic version. */
  version: string
  title: string
  description: string
  /** SVG image in base64; may be empty. */
  icon: string
  /** Markdown in base64; may be empty. */
  readme: string
  /** `public`: in the hub of every workspace. */
  visibility: 'public' | 'private'
  /** JSON of `InterfaceDefinition`. */
  definition: string
  created_at: string
  updated_at: string
}

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
