import { Type } from 'typebox'
import { json, operation } from '../../operation.js'
import { Empty, wrap } from '../../shared.js'
import { address, ChatUser, ForeignId, profile, userDetails } from './entities.js'
import { adminSecret } from './webchat.js'

/** The users of a chat address. */
export const chatUsers = {
  createUser: operation({
    id: 'chatCreateUser',
    method: 'POST',
    path: '/chat/{webhookId}/users',
    tag: 'Chat',
    summary: 'Create a user and get its user key',
    description:
      'Not available if the chat address has an encryption key of its own, unless the call has the admin secret of the chat. The key is returned only once. Repeating a call whose response was lost creates another user, or is refused with `AlreadyExists` if it names an id. `Idempotency-Key` has no effect here, because it does not prove who repeats the call.',
    auth: 'chat',
    params: address,
    headers: Type.Object({ 'x-admin-secret': adminSecret }),
    body: Type.Object({
      id: Type.Optional(
        ForeignId(
          'Id of the user: 1 to 70 characters of `A-Z a-z 0-9 _ - / \\`; generated if omitted.',
        ),
      ),
      ...profile,
      ...userDetails,
    }),
    response: json(
      Type.Object({
        user: ChatUser,
        key: Type.String({
          description: 'User key: the value of the header `x-user-key` of this user.',
        }),
      }),
    ),
    status: 201,
    errors: ['Unauthorized', 'AlreadyExists'],
    throttle: 'users',
  }),
  getOrCreateUser: operation({
    id: 'chatGetOrCreateUser',
    method: 'POST',
    path: '/chat/{webhookId}/users/get-or-create',
    tag: 'Chat',
    summary: 'Get or create the user of a user key',
    description:
      'The key identifies the user. The given fields overwrite those of an existing user. A key that was revoked, or issued before its user was deleted, is refused with `Unauthorized`. The key of a banned user is refused with `Forbidden`.',
    auth: 'chat-user',
    params: address,
    body: Type.Object(profile),
    response: json(wrap('user', ChatUser)),
  }),
  getUser: operation({
    id: 'chatGetUser',
    method: 'GET',
    path: '/chat/{webhookId}/users/me',
    tag: 'Chat',
    summary: 'Get the user of a user key',
    auth: 'chat-user',
    params: address,
    response: json(wrap('user', ChatUser)),
  }),
  updateUser: operation({
    id: 'chatUpdateUser',
    method: 'PUT',
    path: '/chat/{webhookId}/users/me',
    tag: 'Chat',
    summary: 'Update the user of a user key',
    description: 'Omitted fields keep their value.',
    auth: 'chat-user',
    params: address,
    body: Type.Object({ ...profile, ...userDetails }),
    response: json(wrap('user', ChatUser)),
  }),
  deleteUser: operation({
    id: 'chatDeleteUser',
    method: 'DELETE',
    path: '/chat/{webhookId}/users/me',
    tag: 'Chat',
    summary: 'Delete the user of a user key',
    description:
      'Removes the user from every conversation. Its messages stay. Another user may take its id. Keys issued before the deletion are refused from then on, also for a new user with the same id.',
    auth: 'chat-user',
    params: address,
    response: json(Empty),
  }),
}
