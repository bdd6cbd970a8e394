import { type TSchema, Type } from 'typebox'
import { OneOf, paging, sortDirection, Text } from '../../shared.js'

/** The path parameters of an integration, an interface or a plugin by its name and version. */
export const nameAndVersion = Type.Object({
  name: Text(200, 'Its name; a `/` in it is written as `%2F`.', 1),
  version: Text(
    200,
    'A version, `latest`, or a range such as `<2.0.0`, which selects the highest match.',
    1,
  ),
})

/** Filter and order of a list of interfaces or plugins. */
export const packageSearch = {
  ...paging,
  name: Type.Optional(Text(200, 'Only those with this name.')),
  version: Type.Optional(Text(100, 'Only this version.')),
  search: Type.Optional(Text(200, 'Only those with this text in name, title or description.')),
  sortBy: Type.Optional(
    OneOf(['name', 'createdAt', 'updatedAt'], 'Sort field; `createdAt` by default.'),
  ),
  direction: sortDirection('Sort order; `desc` by default, `asc` for `name`.'),
}

const encoded = 'in base64, at most'

/** Descriptive fields of an interface or a plugin in a request. */
export const aboutPackage = {
  title: Type.Optional(Text(200, 'Display name, at most 200 characters.')),
  description: Type.Optional(Text(2000, 'Purpose, at most 2,000 characters.')),
  icon: Type.Optional(Text(262_144, `Icon: an SVG image ${encoded} 262,144 characters.`)),
  readme: Type.Optional(
    Text(1_048_576, `Documentation: Markdown ${encoded} 1,048,576 characters.`),
  ),
  sdkVersion: Type.Optional(Text(100, 'Version of the SDK that built it.')),
}

/** Name and version of a new interface or plugin. */
export const newName = {
  name: Text(
    200,
    'Name, 2 to 200 characters: a lowercase letter, then letters, digits, `-`, `_`; the handle of the workspace and a `/` may precede it.',
    2,
  ),
  version: Text(100, 'Semantic version, such as `1.4.0`; 1 to 100 characters.', 1),
}

const text = (description: string) => Type.String({ description })

/** Fields of every interface and plugin in a response. */
export const packageBase = <Extra extends Record<string, TSchema>>(extra: Extra) => ({
  name: text('Name, preceded by the handle of the workspace and a `/` if it has one.'),
  version: text('Semantic version.'),
  title: text('Display name; empty if none was set.'),
  description: text('Purpose; empty if not set.'),
  iconUrl: text('URL of an icon, which may be a `data:` URL; may be empty.'),
  readmeUrl: text(
    'URL of its documentation, which may be a `data:` URL; may be empty, and always is in lists.',
  ),
  public: Type.Boolean({ description: 'Whether it is in the hub of every workspace.' }),
  ...extra,
})
