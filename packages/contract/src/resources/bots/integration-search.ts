import { Type } from 'typebox'
import { Id, OneOf, paging, sortDirection, Text } from '../../shared.js'

/** The address of an integration by its id. */
export const integrationId = Type.Object({ id: Id('Id of the integration.') })

/** The address of an integration by its name and version. */
export const nameAndVersion = Type.Object({
  name: Text(200, 'Name of the integration; a `/` in it is written `%2F`.', 1),
  version: Text(200, 'A version, `latest`, or a range such as `<2.0.0`: the highest is found.', 1),
})

/** What a list of integrations is narrowed to and sorted by. */
export const search = {
  ...paging,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: 'Another name of `pageSize`, which wins over it.',
    }),
  ),
  name: Type.Optional(Text(200, 'Only integrations of this name.')),
  version: Type.Optional(Text(100, 'Only this version.')),
  interfaceId: Type.Optional(Id('Only integrations that implement this interface.')),
  interfaceName: Type.Optional(Text(200, 'Only integrations that implement this interface.')),
  installedByBotId: Type.Optional(Id('Only integrations that are installed in this bot.')),
  verificationStatus: Type.Optional(
    OneOf(['unapproved', 'pending', 'approved', 'rejected'], 'Only with this status.'),
  ),
  search: Type.Optional(Text(200, 'Only integrations with this in name, title or description.')),
  sortBy: Type.Optional(
    OneOf(
      ['popularity', 'name', 'createdAt', 'updatedAt', 'installCount'],
      'What to sort by; `createdAt` by default.',
    ),
  ),
  direction: sortDirection('Order; `desc` by default, `asc` for `name`.'),
}
