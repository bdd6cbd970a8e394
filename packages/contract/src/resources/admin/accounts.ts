import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Id, Text, Timestamp, Url, wrap } from '../../shared.js'

/** The person that a personal access token belongs to. */
export const Account = Type.Object(
  {
    id: Id('Id of the account.'),
    email: Type.String({ description: 'Email address of the person.' }),
    displayName: Type.Optional(Type.String({ description: 'Name shown to others.' })),
    emailVerified: Type.Boolean({ description: 'Whether the email address was confirmed.' }),
    profilePicture: Type.Optional(Type.String({ description: 'URL of a picture.' })),
    createdAt: Timestamp('When the account was created.'),
  },
  { title: 'Account', description: 'The person that a personal access token belongs to.' },
)

/** The caller's own account. */
export const accounts = {
  get: operation({
    id: 'getAccount',
    method: 'GET',
    path: '/v1/admin/account/me',
    tag: 'Account',
    summary: 'Get the account of the caller',
    auth: 'account',
    response: json(wrap('account', Account)),
  }),
  update: operation({
    id: 'updateAccount',
    method: 'PUT',
    path: '/v1/admin/account/me',
    tag: 'Account',
    summary: 'Update the account of the caller',
    auth: 'account',
    body: Type.Object({
      displayName: Type.Optional(Text(200, 'Name shown to others, at most 200 characters.')),
      profilePicture: Type.Optional(Url('URL of a picture, at most 65,536 characters.')),
      refresh: Type.Optional(
        Type.Boolean({ description: 'Accepted for existing clients; has no effect.' }),
      ),
    }),
    response: json(wrap('account', Account)),
  }),
}
