import { Type } from 'typebox'
import { Id, MapOf } from '../../shared.js'

/** The workspace of something in the hub. */
export const OwnerWorkspace = Type.Object(
  {
    id: Id('Id of the workspace.'),
    handle: Type.Union([Type.String(), Type.Null()], {
      description: 'Handle; null if there is none.',
    }),
    name: Type.String({ description: 'Name of the workspace.' }),
  },
  { title: 'OwnerWorkspace', description: 'Workspace that publishes it.' },
)

/** Usage of an entry of the hub. */
export const HubMeta = Type.Object(
  {
    installs: Type.Integer({ description: 'Number of bots in which it is installed.' }),
    views: Type.Integer({ description: 'Kept for existing clients; always 0.' }),
  },
  { title: 'HubMeta', description: 'Usage.' },
)

/** Free-form attributes of a response. */
export const attributes = MapOf(Type.String({ description: 'Value of the attribute.' }), {
  description: 'Free-form attributes.',
})
