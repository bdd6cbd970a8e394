/**
 * The columns of interfaces and plugins, which workspaces define by name and version, and publish. `definition` holds
 * what it declares as one JSON object.
 */
export interface CatalogueColumns {
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
  /** `public`: in the hub of every workspace; `unlisted`: the same, but not in its lists. */
  visibility: 'public' | 'private' | 'unlisted'
  definition: string
  created_at: string
  updated_at: string
}
