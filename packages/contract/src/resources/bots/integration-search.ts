import { Type } from 'typebox'
import { Id, OneOf, paging, sortDirection, Text } from '../../shared.js'

/** The path parameters of an integration by its id. */
export const integrationId = Type.Object({ id: Id('Id of the integration.') })

/** The path parameters of an integration by its name and version. */
export const nameAndVersion = Type.Object({
  name: Text(200, 'Name of the integration; a `/` in it is written as `%2F`.', 1),
  version: Text(
    200,
    'A version, `latest`, or a range such as `<2.0.0`, which selects the highest match.',
    1,
  ),
})

/** Filter and order of a list of integrations. */
export const search = {
  ...paging,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'Alias of `pageSize`; `pageSize` takes precedence.',
    }),
  ),
  name: Type.Optional(Text(200, 'Only integrations with this name.')),
  version: Type.Optional(Text(100, 'Only this version.')),
  interfaceId: Type.Optional(Id('Only integrations that implement this interface.')),
  interfaceName: Type.Optional(Text(200, 'Only integrations that implement this interface.')),
  installedByBotId: Type.Optional(Id('Only integrations that are installed in this bot.')),
  verificationStatus: Type.Optional(
    OneOf(['unapproved', 'pending', 'approved', 'rejected'], 'Only integrations with this status.'),
  ),
  search: Type.Optional(
    Text(200, 'Only integrations with this text in name, title or description.'),
  ),
  sortBy: Type.Optional(
    OneOf(
      ['popularity', 'name', 'createdAt', 'updatedAt', 'installCount'],
      'Sort field; `createdAt` by default.',
    ),
  ),
  direction: sortDirection('Sort order; `desc` by default, `asc` for `name`.'),
}
